// SPDX-License-Identifier: BSD-3-Clause
// A vector of the root as it goes over the lanes to all nodes, or comes from them: sorted by nodes, what belongs to a
// node is cut into an even part for each lane; sorted by lanes, all that one lane carries is one block.
#pragma once

#include <span>
#include <vector>

#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

class LaneShares {
  public:
    /// Borrows both.
    LaneShares(const Call& call, const NodeOrder& order);

    /// Of what this rank's lane carries, where the part for each node starts, as Parts has it. Nothing in no lane.
    [[nodiscard]] std::span<const Count> in_lane() const { return in_lane_; }
    /// In a vector sorted by lanes, where the share of each rank of this node starts: nothing for ranks in no lane.
    [[nodiscard]] std::span<const Count> on_node() const { return on_node_; }
    /// The share of a rank of this node in a vector sorted by lanes.
    [[nodiscard]] Block of(Block by_lanes, Rank number) const {
        return Parts(by_lanes, static_cast<Count>(on_node_.size()) - 1, on_node_)[number];
    }
    /// Of a block sorted by nodes, the part of one node that a lane carries.
    [[nodiscard]] Block part(Block by_nodes, Rank node, Rank lane) const {
        return Parts(order_.of_node(by_nodes, node), call_.lanes())[lane];
    }
    /// Are both orders the same?
    [[nodiscard]] bool in_order() const { return call_.lanes() == 1 || call_.nodes() == 1; }

  private:
    const Call& call_;
    const NodeOrder& order_;
    std::vector<Count> in_lane_ = {0}, on_node_ = {0};
};

/// Copies a vector that is sorted by nodes to where it is sorted by lanes.
Schedule sort_by_lanes(const Call& call, const LaneShares& shares, Block by_nodes, Block by_lanes);
/// And back.
Schedule sort_from_lanes(const Call& call, const LaneShares& shares, Block by_lanes, Block by_nodes);

}  // namespace rondo
