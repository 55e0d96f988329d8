// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rondo/topology/rotation.hpp"

namespace rondo::topology {
namespace {

int ceil_log2(Rank n) {
    int log = 0;
    while ((std::int64_t{1} << log) < n) ++log;
    return log;
}

TEST(rotation, numbers_the_ranks_around_the_circle_from_any_place) {
    for (Rank size = 1; size <= 12; ++size) {
        for (Rank rank = 0; rank < size; ++rank) {
            for (Rank place = 0; place < size; ++place) {
                const Rotation circle(rank, place, size);
                EXPECT_EQ(circle.place_of(rank), place);
                for (Rank each = 0; each < size; ++each) {
                    EXPECT_EQ(circle.rank_at(circle.place_of(each)), each);
                    EXPECT_EQ(circle.place_of((each + 1) % size), (circle.place_of(each) + 1) % size);
                }
                EXPECT_EQ(circle.rank_at(-1), no_rank);
                EXPECT_EQ(circle.rank_at(size), no_rank);
            }
        }
    }
}

TEST(binomial_tree, reaches_every_rank_from_its_parent_within_ceil_log2_edges) {
    for (Rank size = 1; size <= 300; ++size) {
        for (Rank rank = 1; rank < size; ++rank) {
            int depth = 0;
            for (Rank each = rank; each > 0; each -= binomial_skip(each, size)) ++depth;
            EXPECT_LE(depth, ceil_log2(size));
            EXPECT_LT(binomial_skip(rank, size), binomial_skip(0, size));
        }
        EXPECT_EQ(binomial_skip(0, size), 1 << ceil_log2(size));
    }
}

class InOrderTree : public testing::TestWithParam<TreeShape> {};

TEST_P(InOrderTree, has_the_left_ranks_before_and_the_right_ones_behind_each_rank) {
    for (Rank size = 1; size <= 200; ++size) {
        for (const Rank root : {Rank{0}, size / 3, in_order_root(0, size - 1, GetParam()), size - 1}) {
            for (Rank rank = 0; rank < size; ++rank) {
                const InOrderPlace place = in_order_place(rank, 0, size - 1, root, GetParam());
                EXPECT_EQ(place.parent == no_rank, rank == root);
                EXPECT_LE(place.first, rank);
                EXPECT_GE(place.last, rank);
                EXPECT_EQ(place.left != no_rank, place.first < rank);
                EXPECT_EQ(place.right != no_rank, place.last > rank);
                if (place.left != no_rank) {
                    const InOrderPlace left = in_order_place(place.left, 0, size - 1, root, GetParam());
                    EXPECT_EQ(left.parent, rank);
                    EXPECT_EQ(left.first, place.first);
                    EXPECT_EQ(left.last, rank - 1);
                }
                if (place.right != no_rank) {
                    const InOrderPlace right = in_order_place(place.right, 0, size - 1, root, GetParam());
                    EXPECT_EQ(right.parent, rank);
                    EXPECT_EQ(right.first, rank + 1);
                    EXPECT_EQ(right.last, place.last);
                }
            }
        }
    }
}

TEST_P(InOrderTree, counts_the_ancestors_that_hear_from_above) {
    for (Rank size = 1; size <= 100; ++size) {
        const Rank root = in_order_root(0, size - 1, GetParam());
        for (Rank rank = 0; rank < size; ++rank) {
            int inner = 0;
            for (Rank each = rank; each != root;) {
                each = in_order_place(each, 0, size - 1, root, GetParam()).parent;
                if (in_order_place(each, 0, size - 1, root, GetParam()).first > 0) ++inner;
            }
            EXPECT_EQ(in_order_place(rank, 0, size - 1, root, GetParam()).inner_ancestors, inner);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, InOrderTree, testing::Values(TreeShape::balanced, TreeShape::fibonacci));

/// The step in which a rank hears, if each one speaks to its left child first and to its right one in the step after.
int hears(Rank rank, Rank size, TreeShape shape) {
    const Rank root = in_order_root(0, size - 1, shape);
    int step = 0;
    while (rank != root) {
        const Rank parent = in_order_place(rank, 0, size - 1, root, shape).parent;
        step += rank < parent ? 1 : 2;
        rank = parent;
    }
    return step;
}

TEST(balanced_tree, is_as_shallow_as_can_be) {
    for (Rank size = 1; size <= 1000; ++size) {
        const Rank root = in_order_root(0, size - 1);
        int deepest = 0;
        for (Rank rank = 0; rank < size; ++rank) {
            int depth = 0;
            for (Rank each = rank; each != root; ++depth) each = in_order_place(each, 0, size - 1, root).parent;
            deepest = std::max(deepest, depth);
        }
        EXPECT_EQ(deepest, ceil_log2(size + 1) - 1) << size;
    }
}

TEST(fibonacci_tree, is_heard_everywhere_in_the_fewest_steps) {
    // The most ranks that hear within t steps: 1, 2, 4, 7, 12, ...
    Rank before = 0, most = 1;
    for (int steps = 0; most < 400; ++steps) {
        for (Rank size = before + 1; size <= most; ++size) {
            int last = 0;
            for (Rank rank = 0; rank < size; ++rank) last = std::max(last, hears(rank, size, TreeShape::fibonacci));
            EXPECT_LE(last, steps) << size;
        }
        before = std::exchange(most, 1 + most + before);
    }
}

}  // namespace
}  // namespace rondo::topology
