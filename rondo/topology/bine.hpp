// SPDX-License-Identifier: BSD-3-Clause
// Bine (binomial negabinary) trees and butterflies: as many rounds as their binomial relatives, partners two thirds as
// far from each other. [desensi2025bine]; derived in docs/explanation/bine-trees.md. Pure arithmetic, O(log size), or
// O(log^2 size) for the rounds of a scatter.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "rondo/core/block.hpp"

namespace rondo::topology {

/// A tree over the places 0 to size-1, seen from one of them. A range of places is halved; whoever leads it sends to
/// the leader of the other half, who stands a third of that half away from the seam; and so on in both halves. A root a
/// third of the way from one end is two thirds of the way, in its own half, from that end: in each half everything is
/// mirrored, and partners are a third of the range apart. On powers of two these are the trees of the paper.
class BineTree {
  public:
    BineTree(Rank place, Rank root, Rank size);

    /// The root that makes all distances a third of their range.
    static constexpr Rank best_root(Rank size) { return (size - 1) / 3; }

    /// `no_rank` for the root.
    [[nodiscard]] Rank parent() const { return parent_; }
    /// Those with the larger subtrees first. The subtrees of the children from `i` on and the place itself make a
    /// range; the subtree of the child before is its neighbour, on the side where that child is.
    [[nodiscard]] std::span<const Rank> children() const { return std::span(children_).first(size_); }

  private:
    Rank parent_ = no_rank;
    std::array<Rank, 31> children_{};
    std::size_t size_ = 0;
};

/// Partners in a circle of an even number of ranks. In round i, an even rank r meets r + d, an odd one r - d, where
/// d = 1 - 2 + 4 - ... + (-2)^i: about 2/3 of 2^i, and always odd, so that who meets is each other's partner.
class BineButterfly {
  public:
    explicit constexpr BineButterfly(Rank size) : size_(size) {}

    [[nodiscard]] constexpr Rank partner(Rank rank, int round) const {
        const std::int64_t power = std::int64_t{1} << (round + 1),
                           distance = (1 - (is_odd(round) ? power : -power)) / 3;
        return wrapped(is_odd(rank) ? rank - distance : rank + distance);
    }

    /// Is the partner further on around the circle? Before round i a rank has a window of 2^i consecutive ranks, itself
    /// among them, and its partner's window is the next one on that side.
    [[nodiscard]] static constexpr bool is_ahead(Rank rank, int round) { return is_odd(rank) == is_odd(round); }
    /// How many ranks of the window before a round come before this one.
    [[nodiscard]] static constexpr Rank behind(Rank rank, int round) {
        return is_odd(rank) ? wing(round + 1) : wing(round) * 2;
    }

    /// On a power of two: bit i says which half this rank keeps in round i, if in every round both partners have the
    /// same part of a vector, halve it, and keep different halves.
    [[nodiscard]] Rank part(Rank rank) const;
    /// On a power of two: after how many rounds a scatter of such halves from `top` has reached a rank; 0 for `top`.
    [[nodiscard]] int rounds_to(Rank rank, Rank top) const;

  private:
    static constexpr bool is_odd(Rank number) { return number % 2 != 0; }
    /// 1 + 4 + 16 + ..., as many terms as there are pairs of rounds before this one.
    static constexpr Rank wing(int round) { return ((Rank{1} << (round - round % 2)) - 1) / 3; }
    [[nodiscard]] constexpr Rank wrapped(std::int64_t rank) const {
        return static_cast<Rank>((rank % size_ + size_) % size_);
    }

    Rank size_;
};

}  // namespace rondo::topology
