// SPDX-License-Identifier: BSD-3-Clause
// Divide and conquer: in each round, every range of ranks falls into k + 1 parts of about equal size, each with a root
// of its own. Ranks of a range follow each other, so what is theirs is one block. [traff2020kported], section 2.1.
#pragma once

#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::topology {

/// The ranks from `first` up to, without, `last`, and which of them has to do with other ranges.
struct RankRange {
    Rank first, last, root;

    [[nodiscard]] constexpr Rank size() const { return last - first; }
    [[nodiscard]] constexpr bool holds(Rank rank) const { return first <= rank && rank < last; }
};

/// The place of one rank in the tree that is made by that: a root hears from the root of the range around its own, and
/// speaks to the roots of the ranges within it. ceil(log_{k+1} size) rounds.
struct PlaceInRanges {
    Rank parent = no_rank;                       ///< of the whole range's root: nobody
    RankRange own;                               ///< the largest range whose root this rank is
    std::vector<std::vector<RankRange>> rounds;  ///< of each round, the ranges that part from the own one: up to k
};

/// `root`: of the range of all, from 0 up to, without, `size`. The roots of other ranges are their first ranks.
[[nodiscard]] PlaceInRanges place_in_ranges(Rank rank, Rank root, Rank size, Rank k);

}  // namespace rondo::topology
