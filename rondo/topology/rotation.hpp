// SPDX-License-Identifier: BSD-3-Clause
// Ranks renumbered around a circle, so that an algorithm with a root can be written for one fixed place of it.
#pragma once

#include "rondo/core/block.hpp"

namespace rondo::topology {

class Rotation {
  public:
    /// Numbers `size` ranks so that `rank` gets the number `place`, and the others follow in order around the circle.
    constexpr Rotation(Rank rank, Rank place, Rank size)
        : shift_(rank < place ? rank - place + size : rank - place), size_(size) {}

    /// The number of a rank of the circle.
    [[nodiscard]] constexpr Rank place_of(Rank rank) const {
        return rank < shift_ ? rank - shift_ + size_ : rank - shift_;
    }
    /// The rank of a number; `no_rank` outside [0, size).
    [[nodiscard]] constexpr Rank rank_at(Rank place) const {
        if (place < 0 || place >= size_) return no_rank;
        return place < size_ - shift_ ? place + shift_ : place - (size_ - shift_);
    }

  private:
    Rank shift_;  // the rank of number 0
    Rank size_;
};

}  // namespace rondo::topology
