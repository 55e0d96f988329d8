// SPDX-License-Identifier: BSD-3-Clause
// Fewer ranks, where an algorithm asks for a special number of them: of the first pairs of neighbours one leaves, who
// gives its input to the other and gets the result back. So numbers stay in rank order. [thakur2005optimization]
#pragma once

#include <bit>
#include <cstdint>

#include "rondo/core/block.hpp"

namespace rondo {

class Fold {
  public:
    /// `stay` of `size` ranks stay, at least half of them. Of the pair of `root`, if it is in one, that is the root;
    /// of the others, the lower one.
    constexpr Fold(Rank size, Rank stay, Rank root = 0) : pairs_(size - stay), stay_(stay), root_(root) {}

    static constexpr Fold to_power_of_two(Rank size, Rank root = 0) {
        return {size, static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(size))), root};
    }

    /// For two ranks or more: at most one leaves.
    static constexpr Fold to_even(Rank size) { return {size, size - size % 2}; }

    /// How many ranks stay, numbered from 0.
    [[nodiscard]] constexpr Rank size() const { return stay_; }
    [[nodiscard]] constexpr bool is_paired(Rank rank) const { return rank < 2 * pairs_; }
    [[nodiscard]] constexpr bool leaves(Rank rank) const { return rank_of(number_of(rank)) != rank; }
    /// The other rank of a pair.
    [[nodiscard]] static constexpr Rank neighbour(Rank rank) { return rank ^ 1; }

    /// The number of a rank that stays; of one that leaves, its neighbour's.
    [[nodiscard]] constexpr Rank number_of(Rank rank) const { return is_paired(rank) ? rank / 2 : rank - pairs_; }
    [[nodiscard]] constexpr Rank root_number() const { return number_of(root_); }
    [[nodiscard]] constexpr Rank rank_of(Rank number) const {
        if (number >= pairs_) return number + pairs_;
        return 2 * number + 1 == root_ ? root_ : 2 * number;
    }
    /// The first rank for which `number`, up to size(), stands; those of the next number follow.
    [[nodiscard]] constexpr Rank first_of(Rank number) const { return number < pairs_ ? 2 * number : number + pairs_; }

  private:
    Rank pairs_, stay_, root_;
};

}  // namespace rondo
