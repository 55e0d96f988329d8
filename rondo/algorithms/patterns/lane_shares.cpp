// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/lane_shares.hpp"

namespace rondo {

LaneShares::LaneShares(const Call& call, const NodeOrder& order) : call_(call), order_(order) {
    const Block all(0, call.count(), Buffer::scratch);
    const Rank lanes = call.lanes(), own_number = call.place(call.ranks().first).number;
    // Parts of a node in two lanes differ by one element at most: `longer[i]` nodes have one more in i lanes.
    Count least = 0;
    std::vector<Rank> longer(static_cast<std::size_t>(lanes));
    for (Rank node = 0; node < call.nodes(); ++node) {
        const Count of_node = order.of_node(all, node).count;
        least += of_node / lanes;
        ++longer[static_cast<std::size_t>(of_node % lanes)];
        if (own_number < lanes) in_lane_.push_back(in_lane_.back() + part(all, node, own_number).count);
    }
    Count more = call.nodes();
    for (Rank number = 0; number < call.ranks_on_node(); ++number) {
        if (number < lanes) more -= longer[static_cast<std::size_t>(number)];
        on_node_.push_back(on_node_.back() + (number < lanes ? least + more : 0));
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
