// SPDX-License-Identifier: BSD-3-Clause
// Trees over ranks numbered 0 to size-1, seen from one of them: pure arithmetic, O(log size).
#pragma once

#include <cstdint>

#include "rondo/core/block.hpp"

namespace rondo::topology {

/// Binomial tree with root 0: the parent of `rank` is rank - skip, its children rank + skip/2, rank + skip/4, ..., as
/// far as they exist. The skip of the root is the smallest power of two that is not below `size`.
[[nodiscard]] constexpr Rank binomial_skip(Rank rank, Rank size) {
    if (rank > 0) return rank & -rank;
    Rank skip = 1;
    while (skip < size) skip *= 2;
    return skip;
}

/// How an interval of ranks is divided below its root.
enum class TreeShape : std::uint8_t {
    balanced,   ///< as evenly as possible: every rank is reached within log2(size) edges
    fibonacci,  ///< one side larger, so that all leaves hear at about the same time if a rank speaks to one at a time
};

/// One rank in a binary tree whose numbering is in order: all ranks of the left subtree come before the rank, all of
/// the right one behind it. `no_rank` stands for who does not exist.
struct InOrderPlace {
    Rank parent = no_rank, left = no_rank, right = no_rank;
    Rank first = 0, last = 0;  ///< of the subtree of this rank, both included
    int ancestors = 0;
    int inner_ancestors = 0;  ///< those whose subtree does not begin with the first rank of the whole tree
};

/// The place of `rank` in the in-order tree over [first, last] with the given root (any rank of them).
[[nodiscard]] InOrderPlace in_order_place(Rank rank, Rank first, Rank last, Rank root,
                                          TreeShape shape = TreeShape::balanced);

/// The root that `shape` gives an in-order tree over [first, last].
[[nodiscard]] Rank in_order_root(Rank first, Rank last, TreeShape shape = TreeShape::balanced);

}  // namespace rondo::topology
