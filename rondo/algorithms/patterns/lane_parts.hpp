// SPDX-License-Identifier: BSD-3-Clause
// A vector cut into a part for each lane, as the ranks of one node hold it.
#pragma once

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
    /// Where the parts of the node's ranks start, as Parts has it.
    [[nodiscard]] std::span<const Count> starts() const { return starts_; }

  private:
    [[nodiscard]] Count start(Rank lane) const { return parts_.range(0, lane).count; }

    Rank lanes_, number_ = 0;
    Parts parts_;
    std::vector<Count> starts_;
};

}  // namespace rondo
