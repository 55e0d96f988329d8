// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks as a map from its own numbering 0..size-1 into the communicator's. Groups such as "my node" or "my
// lane" are maps, not MPI communicators: making one costs nothing.
#pragma once

#include <span>

#include "rondo/core/block.hpp"

namespace rondo {

class RankMap {
  public:
    /// All ranks of a communicator.
    static constexpr RankMap everyone(Rank size) { return RankMap(0, 1, size); }

    /// first, first + stride, ... (size of them); the stride may be negative.
    constexpr RankMap(Rank first, Rank stride, Rank size) : first_(first), stride_(stride), size_(size) {}

    /// The listed ranks, in this order. Borrows the list for the life of the map.
    explicit constexpr RankMap(std::span<const Rank> ranks)
        : first_(0), stride_(1), size_(static_cast<Rank>(ranks.size())), table_(ranks.data()) {}

    [[nodiscard]] constexpr Rank size() const { return size_; }

    /// The communicator's rank of this group's `rank`, or `no_rank` outside the group.
    [[nodiscard]] constexpr Rank operator()(Rank rank) const {
        if (rank < 0 || rank >= size_) return no_rank;
        return table_ != nullptr ? table_[rank] : first_ + stride_ * rank;
    }

  private:
    Rank first_, stride_, size_;
    const Rank* table_ = nullptr;
};

}  // namespace rondo
