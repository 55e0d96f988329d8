// SPDX-License-Identifier: BSD-3-Clause
// The parts of a vector as one rank counts them around the circle: number 0 is its own, number 1 that of the rank
// behind it, and so on. A run of them that goes past the end of the vector lies in two pieces.
#pragma once

#include <array>

#include "rondo/algorithms/patterns/fold.hpp"

namespace rondo {

class RotatedParts {
  public:
    /// There are as many parts as ranks.
    constexpr RotatedParts(const Parts& parts, Rank rank)
        : RotatedParts(parts, rank, Fold(static_cast<Rank>(parts.size()), static_cast<Rank>(parts.size()))) {}
    /// Those of a pair are one part. Number 0 is that of `number`, as the fold numbers those who stay.
    constexpr RotatedParts(const Parts& parts, Rank number, const Fold& fold)
        : parts_(parts), fold_(fold), first_(number) {}

    /// The parts from number `first` up to, without, `last`, in their order: the second piece is empty unless they
    /// wrap.
    [[nodiscard]] constexpr std::array<Block, 2> pieces(Rank first, Rank last) const {
        const Count begin = Count{first_} + first, end = Count{first_} + last, size = fold_.size();
        return {range(begin, std::min(end, size)), range(std::max(begin, size) - size, end - size)};
    }

    [[nodiscard]] constexpr Count count(Rank first, Rank last) const {
        const auto [front, back] = pieces(first, last);
        return front.count + back.count;
    }

    /// Are there elements in both pieces?
    [[nodiscard]] constexpr bool wrap(Rank first, Rank last) const {
        const auto [front, back] = pieces(first, last);
        return !front.empty() && !back.empty();
    }

    /// Parts that do not wrap.
    [[nodiscard]] constexpr Block block(Rank first, Rank last) const {
        const auto [front, back] = pieces(first, last);
        return front.empty() ? back : front;
    }

    /// Parts inside `line`, which holds those from number 0 on one after the other.
    [[nodiscard]] constexpr Block on_line(Block line, Rank first, Rank last) const {
        return line.part(count(0, first), count(first, last));
    }

  private:
    [[nodiscard]] constexpr Block range(Count first, Count last) const {
        if (first >= last) return {};
        return parts_.range(fold_.first_of(static_cast<Rank>(first)), fold_.first_of(static_cast<Rank>(last)));
    }

    Parts parts_;
    Fold fold_;
    Rank first_;
};

}  // namespace rondo
