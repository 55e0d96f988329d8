// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/bine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <ranges>
#include <vector>

namespace rondo::topology {
namespace {

int ceil_log2(Rank n) {
    int log = 0;
    while ((std::int64_t{1} << log) < n) ++log;
    return log;
}

/// 1 - 2 + 4 - ...: in the base -2, a row of ones.
Rank ones(int digits) {
    Rank sum = 0, power = 1;
    for (int i = 0; i < digits; ++i, power *= -2) sum += power;
    return sum;
}

struct Range {
    Rank first, last;  // both included
};

/// Of the subtree of a place; checks on the way down that subtrees adjoin.
Range subtree(const std::vector<BineTree>& tree, Rank place) {
    Range range{place, place};
    for (const Rank child : std::views::reverse(tree[static_cast<std::size_t>(place)].children())) {
        EXPECT_EQ(tree[static_cast<std::size_t>(child)].parent(), place);
        const Range below = subtree(tree, child);
        if (child < place) {
            EXPECT_EQ(below.last + 1, range.first);
            range.first = below.first;
        } else {
            EXPECT_EQ(range.last + 1, below.first);
            range.last = below.last;
        }
    }
    return range;
}

std::vector<BineTree> tree_of(Rank root, Rank size) {
    std::vector<BineTree> tree;
    tree.reserve(static_cast<std::size_t>(size));
    for (Rank place = 0; place < size; ++place) tree.emplace_back(place, root, size);
    return tree;
}

TEST(bine_tree, has_a_range_below_every_place_for_every_size_and_root) {
    for (Rank size = 1; size <= 130; ++size) {
        for (Rank root = 0; root < size; ++root) {
            SCOPED_TRACE(testing::Message() << "size " << size << ", root " << root);
            const std::vector<BineTree> tree = tree_of(root, size);
            EXPECT_EQ(tree[static_cast<std::size_t>(root)].parent(), no_rank);
            const Range all = subtree(tree, root);
            EXPECT_EQ(all.first, 0);
            EXPECT_EQ(all.last, size - 1);
        }
    }
}

/// The time at which a place hears, if everyone speaks to one child in each round.
TEST(bine_tree, is_through_after_ceil_log2_rounds) {
    for (Rank size = 1; size <= 200; ++size) {
        for (const Rank root : {Rank{0}, BineTree::best_root(size), size - 1}) {
            const std::vector<BineTree> tree = tree_of(root, size);
            std::vector<Rank> order = {root};
            std::vector<int> hears(static_cast<std::size_t>(size), 0);
            for (std::size_t i = 0; i < order.size(); ++i) {
                int time = hears[static_cast<std::size_t>(order[i])];
                for (const Rank child : tree[static_cast<std::size_t>(order[i])].children()) {
                    hears[static_cast<std::size_t>(child)] = ++time;
                    order.push_back(child);
                }
            }
            EXPECT_EQ(*std::ranges::max_element(hears), ceil_log2(size)) << size;
        }
    }
}

TEST(bine_tree, has_rows_of_ones_in_the_base_minus_2_as_distances_on_powers_of_two) {
    for (int digits = 1; digits <= 12; ++digits) {
        const Rank size = Rank{1} << digits, root = BineTree::best_root(size);
        for (Rank place = 0; place < size; ++place) {
            const BineTree node(place, root, size);
            const auto children = node.children();
            for (std::size_t i = 0; i < children.size(); ++i) {
                const int below = static_cast<int>(children.size() - i);  // digits of the child's subtree, and one
                EXPECT_EQ(std::abs(children[i] - place), std::abs(ones(below)));
            }
        }
    }
}

TEST(bine_butterfly, meets_the_next_window_in_every_round) {
    for (Rank size = 2; size <= 300; size += 2) {
        const BineButterfly butterfly(size);
        for (Rank rank = 0; rank < size; ++rank) {
            for (int round = 0; (1 << round) < size; ++round) {
                const Rank partner = butterfly.partner(rank, round), span = 1 << round;
                ASSERT_EQ(butterfly.partner(partner, round), rank);
                ASSERT_EQ((rank + (rank % 2 == 0 ? ones(round + 1) : -ones(round + 1)) - partner) % size, 0);
                const Rank own = rank - butterfly.behind(rank, round);
                const Rank theirs = partner - butterfly.behind(partner, round);
                const bool is_ahead = butterfly.is_ahead(rank, round);
                ASSERT_NE(butterfly.is_ahead(partner, round), is_ahead);
                ASSERT_EQ((own + (is_ahead ? span : -span) - theirs) % size, 0);
                ASSERT_LT(butterfly.behind(rank, round), span);
            }
        }
    }
}

TEST(bine_butterfly, halves_a_vector_as_its_partners_do) {
    for (int rounds = 0; rounds <= 9; ++rounds) {
        const BineButterfly butterfly(1 << rounds);
        std::vector<Rank> parts;
        for (Rank rank = 0; rank < 1 << rounds; ++rank) {
            const Rank part = butterfly.part(rank);
            parts.push_back(part);
            for (int round = 0; round < rounds; ++round) {
                const Rank differing = part ^ butterfly.part(butterfly.partner(rank, round));
                EXPECT_EQ(differing & -differing, 1 << round);
            }
        }
        std::ranges::sort(parts);
        for (Rank part = 0; part < 1 << rounds; ++part) EXPECT_EQ(parts[static_cast<std::size_t>(part)], part);
    }
}

TEST(bine_butterfly, is_reached_from_a_partner_that_was_reached_before) {
    for (int rounds = 0; rounds <= 7; ++rounds) {
        const BineButterfly butterfly(1 << rounds);
        for (Rank top = 0; top < 1 << rounds; ++top) {
            EXPECT_EQ(butterfly.rounds_to(top, top), 0);
            for (Rank rank = 0; rank < 1 << rounds; ++rank) {
                if (rank == top) continue;
                const int reached = butterfly.rounds_to(rank, top);
                ASSERT_GT(reached, 0);
                EXPECT_LT(butterfly.rounds_to(butterfly.partner(rank, reached - 1), top), reached);
            }
        }
    }
}

}  // namespace
}  // namespace rondo::topology
