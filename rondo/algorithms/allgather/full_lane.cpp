// SPDX-License-Identifier: BSD-3-Clause
// Full lane: an allgather on each node; what a node then has goes over all its lanes to the other nodes, in even parts;
// an allgather on each node for what came from each other node. [traff2020decomposing], section 2, but the first step,
// which lets nodes and parts of any length share the lanes evenly, and takes no time of the network: where all are
// alike, the lanes wait for nothing. While the nodes spread what came first, the lanes bring the rest. Volume between N
// nodes, of each of n lanes: m (N - 1) / (N n), the least that is possible. Where nodes interleave, the result is
// sorted by ranks in the end.
#include <vector>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo::allgather {

Schedule full_lane(const Call& call) {
    const Rank own_node = call.place(call.ranks().first).node, nodes = call.nodes();
    const Parts parts = call.parts(call.output());
    const NodeOrder order(call, parts);
    const Block sorted = call.nodes_in_rank_order() ? call.output() : call.scratch();
    const auto of_node = [&](Rank node) { return order.of_node(sorted, node); };

    const Call collecting = call.on_node(call.input(), of_node(own_node), {.starts = order.ranks()});
    Schedule own = circulant(collecting);
    co_yield steps_of(own);

    std::vector<Count> starts = {0};  // of what comes from the nodes over this rank's lane
    for (Rank node = 0; node < nodes; ++node) {
        starts.push_back(starts.back() + LaneParts(call, of_node(node)).own().count);
    }
    // With one lane it is all in its place.
    const Block lane = call.lanes() == 1 && starts.back() > 0 ? sorted : call.scratch(starts.back());
    const Parts arrivals(lane, nodes, starts);
    if (LaneParts(call, sorted).takes_part()) {
        const Call across = call.on_lane(LaneParts(call, of_node(own_node)).own(), lane, {.starts = starts});
        Schedule between_nodes = circulant(across);
        co_yield steps_of(between_nodes);
    }
    for (Rank distance = 1; distance < nodes; ++distance) {
        const Rank node = (own_node + distance) % nodes;  // in the order in which they come
        const LaneParts cut(call, of_node(node));
        const Call spreading = call.on_node(arrivals[node], of_node(node), {.starts = cut.starts()});
        Schedule on_node = circulant(spreading);
        co_yield steps_of(on_node);
    }
    if (call.nodes_in_rank_order()) co_return;
    Schedule sorting = sort_by_ranks(call, sorted, parts);
    co_yield steps_of(sorting);
}

const AlgorithmInfo full_lane_info = {
    .collective = "allgather",
    .name = "full_lane",
    .summary = "allgather on nodes, on lanes, on nodes: for long vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::allgather
