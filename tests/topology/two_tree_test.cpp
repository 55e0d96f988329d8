// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/two_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sanitized.hpp"

namespace rondo::topology {
namespace {

constexpr Rank largest_size = is_sanitized ? 300 : 4096;

using Forms = std::tuple<SecondTree, OddRank>;

class TwoTreesOf : public testing::TestWithParam<Forms> {
  protected:
    [[nodiscard]] static TwoTrees trees(Rank size) { return TwoTrees(size, second(), std::get<1>(GetParam())); }
    [[nodiscard]] static SecondTree second() { return std::get<0>(GetParam()); }
    [[nodiscard]] static bool has_odd_leaf(Rank size) {
        return second() == SecondTree::mirroring && std::get<1>(GetParam()) == OddRank::leaf && size % 2 == 1;
    }
};

std::vector<Rank> children(const TwoTrees::Links& links) {
    std::vector<Rank> all;
    for (const Rank child : {links.left, links.right}) {
        if (child != no_rank) all.push_back(child);
    }
    return all;
}

/// Ranks of a tree in the order left subtree, rank, right subtree.
std::vector<Rank> in_order(const TwoTrees& trees, int tree) {
    std::vector<Rank> order;
    const std::function<void(Rank)> walk = [&](Rank rank) {
        if (rank == no_rank) return;
        const TwoTrees::Links links = trees.links(tree, rank);
        walk(links.left);
        order.push_back(rank);
        walk(links.right);
    };
    walk(trees.root(tree));
    return order;
}

TEST_P(TwoTreesOf, are_binary_trees_over_all_ranks_in_order) {
    for (Rank size = 1; size <= 600; ++size) {
        const TwoTrees both = trees(size);
        for (const int tree : {0, 1}) {
            const std::vector<Rank> order = in_order(both, tree);
            ASSERT_EQ(order.size(), static_cast<std::size_t>(size));
            if (!has_odd_leaf(size) || tree == 0) {
                EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << "size " << size << ", tree " << tree;
            }
            for (Rank rank = 0; rank < size; ++rank) {
                for (const Rank child : children(both.links(tree, rank))) {
                    EXPECT_EQ(both.links(tree, child).parent, rank);
                }
            }
            EXPECT_EQ(both.links(tree, both.root(tree)).parent, no_rank);
        }
    }
}

TEST_P(TwoTreesOf, have_the_inner_ranks_of_one_tree_as_leaves_of_the_other) {
    for (Rank size = 1; size <= 600; ++size) {
        const TwoTrees both = trees(size);
        for (Rank rank = 0; rank < size; ++rank) {
            const auto in_first = children(both.links(0, rank)).size(),
                       in_second = children(both.links(1, rank)).size();
            // A rank that was made the root of both trees has one child in each.
            EXPECT_LE(in_first + in_second, 2U);
            const bool is_common_root = both.root(0) == rank && both.root(1) == rank;
            if (!is_common_root) EXPECT_TRUE(in_first == 0 || in_second == 0) << "size " << size << ", rank " << rank;
        }
    }
}

/// Lemma 1 of the paper.
TEST_P(TwoTreesOf, have_edges_in_two_colours_for_the_parents_and_for_the_children_of_every_rank) {
    for (Rank size = 1; size <= largest_size; ++size) {
        const TwoTrees both = trees(size);
        ASSERT_NE(both.color(0, both.root(0)), both.color(1, both.root(1))) << size;
        for (Rank rank = 0; rank < size; ++rank) {
            ASSERT_NE(both.color(0, rank), both.color(1, rank)) << "size " << size << ", rank " << rank;
            int of_color[2] = {};
            for (const int tree : {0, 1}) {
                const TwoTrees::Links links = both.links(tree, rank);
                if (links.left != no_rank) ++of_color[both.color(tree, links.left)];
                if (links.right != no_rank) ++of_color[both.color(tree, links.right)];
            }
            ASSERT_LE(std::max(of_color[0], of_color[1]), 1) << "size " << size << ", rank " << rank;
        }
    }
}

/// Where they are free to differ is along a whole path of edges that must alternate.
TEST_P(TwoTreesOf, are_coloured_alike_by_following_paths_up_to_a_swap) {
    if (second() == SecondTree::shifting) return;  // coloured by following paths
    for (Rank size = 1; size <= largest_size; ++size) {
        const TwoTrees both = trees(size);
        const auto colors = both.follow_paths();
        std::set<int> swapped_core, swapped_root;
        for (const int tree : {0, 1}) {
            for (Rank rank = 0; rank < size; ++rank) {
                const int followed = colors.at(static_cast<std::size_t>(tree)).at(static_cast<std::size_t>(rank));
                const bool is_common_root = both.root(0) == rank && both.root(1) == rank;
                (is_common_root ? swapped_root : swapped_core).insert(followed ^ both.color(tree, rank));
            }
        }
        ASSERT_LE(swapped_core.size(), 1U) << size;
        ASSERT_LE(swapped_root.size(), 1U) << size;
    }
}

TEST_P(TwoTreesOf, use_every_edge_after_the_one_above_in_steps_of_its_colour) {
    for (Rank size = 1; size <= 300; ++size) {
        const TwoTrees both = trees(size);
        for (const int tree : {0, 1}) {
            for (Rank rank = 0; rank < size; ++rank) {
                const TreeEdge edge = both.to_parent(tree, rank);
                EXPECT_EQ(edge.start % 2, both.color(tree, rank));
                const bool is_root = edge.peer == size;
                const int above = is_root ? -1 : both.to_parent(tree, edge.peer).start;
                EXPECT_GT(edge.start, above);
                EXPECT_LE(edge.start, above + 2);
                EXPECT_EQ(edge.block(edge.start), 0);
                EXPECT_EQ(edge.block(edge.start + 1), -1);
                EXPECT_EQ(edge.block(edge.start + 6), 3);
            }
        }
    }
}

std::string name_of(const testing::TestParamInfo<Forms>& form) {
    return std::string(std::get<0>(form.param) == SecondTree::mirroring ? "mirrored" : "shifted") +
           (std::get<1>(form.param) == OddRank::leaf ? "_odd_leaf" : "_odd_root");
}

INSTANTIATE_TEST_SUITE_P(Forms, TwoTreesOf,
                         testing::Combine(testing::Values(SecondTree::mirroring, SecondTree::shifting),
                                          testing::Values(OddRank::leaf, OddRank::root)),
                         name_of);

/// The paper's own recursion (section 5.1, figure 3), for nodes 1 to p of the first tree.
int in_edge_color(Rank p, Rank node, int height) {
    if ((node & (node - 1)) == 0 && 2 * node > p) return 1;
    while ((node & (1 << height)) == 0) ++height;
    const Rank skip = 1 << height;
    const bool goes_down = (node & 2 * skip) != 0 || node + skip > p;
    const Rank parent = goes_down ? node - skip : node + skip;
    return in_edge_color(p, parent, height) ^ (p / 2 % 2) ^ static_cast<int>(parent > node);
}

TEST(two_trees, have_the_colours_of_the_papers_recursion) {
    for (Rank size = 2; size <= largest_size; size += 2) {
        const TwoTrees both(size);
        for (Rank node = 2; node <= size; node += 2) {
            ASSERT_EQ(both.color(0, node - 1), in_edge_color(size, node, 1)) << size << " " << node;
        }
    }
}

}  // namespace
}  // namespace rondo::topology
