// SPDX-License-Identifier: BSD-3-Clause
// A vector cut into a part for each lane, as the ranks of one node hold it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "rondo/core/call.hpp"

namespace rondo {

/// Part i is of this node's rank with number i; ranks beyond the lanes have empty ones. So every node cuts alike,
/// however many ranks it has.
class LaneParts {
  public:
    LaneParts(const Call& call, Block vector) : lanes_(call.lanes()), parts_(vector, lanes_) {
        const Rank rank = call.ranks().first;
        number_ = call.place(rank).number;
        const Rank ranks = call.ranks_on_node();
        for (Rank each = 0; each <= ranks; ++each) starts_.push_back(each < lanes_ ? start(each) : vector.count);
    }

    [[nodiscard]] bool takes_part() const { return number_ < lanes_; }
    /// The part of this rank.
    [[nodiscard]] Block own() const { return takes_part() ? parts_[number_] : parts_[0].part(0, 0); }
    [[nodiscard]] Block operator[](Rank lane) const { return parts_[lane]; }
    /// Of the ranks of the node. Borrows from this.
    [[nodiscard]] Parts on_node() const { return {parts_.range(0, lanes_), Count(std::ssize(starts_)) - 1, starts_}; }
    /// Where the parts of the node's ranks start, as Parts has it.
    [[nodiscard]] std::span<const Count> starts() const { return starts_; }

  private:
    [[nodiscard]] Count start(Rank lane) const { return parts_.range(0, lane).count; }

    Rank lanes_, number_ = 0;
    Parts parts_;
    std::vector<Count> starts_;
};

/// Pieces of a vector whose parts in the lanes are segments. They are handled one after the other: run as dataflow, the
/// network carries one of them while the nodes work on others.
[[nodiscard]] inline Segments lane_segments(const Call& call, Block vector) {
    return {vector, call.segment_count() * call.lanes()};
}

/// So many pieces go into the lanes before the nodes take up the first that comes out. Messages between two ranks keep
/// their order: those of the node for the next pieces must not wait behind one that waits for the network.
inline constexpr Count pieces_ahead = 4;

/// What was last made for each of the pieces that are ahead.
class PiecesAhead {
  public:
    [[nodiscard]] Block& operator[](Count piece) {
        return blocks_.at(static_cast<std::size_t>(piece) % blocks_.size());
    }

  private:
    std::array<Block, pieces_ahead + 1> blocks_;
};

}  // namespace rondo
