// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/lane_shares.hpp"

namespace rondo {

LaneShares::LaneShares(const Call& call, const NodeOrder& order) : call_(call), order_(order) {
    const Block all(0, call.count(), Buffer::scratch);
    const Rank own_number = call.place(call.ranks().first).number;
    for (Rank number = 0; number < call.ranks_on_node(); ++number) {
        Count end = on_node_.back();
        for (Rank node = 0; number < call.lanes() && node < call.nodes(); ++node) {
            const Count count = part(all, node, number).count;
            end += count;
            if (number == own_number) in_lane_.push_back(in_lane_.back() + count);
        }
        on_node_.push_back(end);
    }
}

Schedule sort_by_lanes(const Call& call, const LaneShares& shares, Block by_nodes, Block by_lanes) {
    Count at = by_lanes.first;
    for (Rank lane = 0; lane < call.lanes(); ++lane) {
        for (Rank node = 0; node < call.nodes(); ++node) {
            const Block part = shares.part(by_nodes, node, lane);
            co_yield copy(part).into(Block(at, part.count, by_lanes.buffer));
            at += part.count;
        }
    }
}

Schedule sort_from_lanes(const Call& call, const LaneShares& shares, Block by_lanes, Block by_nodes) {
    Count at = by_lanes.first;
    for (Rank lane = 0; lane < call.lanes(); ++lane) {
        for (Rank node = 0; node < call.nodes(); ++node) {
            const Block part = shares.part(by_nodes, node, lane);
            co_yield copy(Block(at, part.count, by_lanes.buffer)).into(part);
            at += part.count;
        }
    }
}

}  // namespace rondo
