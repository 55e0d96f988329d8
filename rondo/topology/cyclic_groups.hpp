// SPDX-License-Identifier: BSD-3-Clause
// Who speaks to whom in cyclic doubling: a group of m ranks splits, round by round, into the ranks with even and with
// odd virtual index. One rank's path through the groups, O(log p) in all.
#pragma once

#include "rondo/core/block.hpp"

namespace rondo::topology {

class CyclicPath {
  public:
    CyclicPath(Rank rank, Rank size) : index_(rank), size_(size) {}

    /// True when this rank's group has no other member.
    [[nodiscard]] bool done() const { return size_ == 1; }

    /// Whom this rank sends its item to, `no_rank` if nobody needs it.
    [[nodiscard]] Rank to() const;
    /// From whom this rank receives an item, `no_rank` if from nobody.
    [[nodiscard]] Rank from() const;
    /// True: the received item takes the place of this rank's own (its window wrapped around to rank 0's). False: it
    /// is appended to it.
    [[nodiscard]] bool replaces() const { return index_ == last_odd(); }

    /// Goes on to the group of the next round.
    void descend();

  private:
    [[nodiscard]] Rank last_odd() const { return size_ / 2 * 2 - 1; }
    /// With an odd number of members the last one has nobody to receive from and nobody waiting.
    [[nodiscard]] bool idle() const { return size_ % 2 == 1 && index_ == size_ - 1; }
    /// The last message to rank 0 would serve only its total, which an exclusive scan does not want.
    [[nodiscard]] bool only_total() const { return size_ == 2 && odd_ == 0; }
    /// The rank of virtual index `index` of the present group.
    [[nodiscard]] Rank rank_of(Rank index) const;

    Rank index_;  // virtual, in the present group
    Rank size_;   // of the present group
    int depth_ = 0;
    std::uint32_t odd_ = 0;  // bit d: at depth d this rank went on with the odd ones
    Rank sizes_[32] = {};    // of the groups on the way here
};

}  // namespace rondo::topology
