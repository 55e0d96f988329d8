// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the root gives a part to each rank of its node that is in a lane, all lanes broadcast at once, an
// allgather on each node. [traff2020decomposing], section 2. Long vectors, on nodes of several ranks. Every part enters
// each node once. In the lanes, segments in the fewest rounds (circulant.cpp).
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::bcast {
namespace {

/// On the root's node. One message after the other: they stay within the node.
Schedule give_parts(const Call& node, const LaneParts& parts, Rank lanes) {
    const Rank number = node.ranks().first, root = node.facts().root;
    if (number != root) co_yield exchange(receive(parts.own(), root));
    if (number != root) co_return;
    for (Rank lane = 0; lane < lanes; ++lane) {
        if (lane != root) co_yield exchange(send(parts[lane], lane));
    }
}

}  // namespace

Schedule full_lane(const Call& call) {
    const Block vector = call.output();
    const LaneParts parts(call, vector);
    const auto [root_node, root_number] = call.place(call.facts().root);

    const Call node = call.on_node(vector, vector, {.root = root_number});
    if (call.place(call.ranks().first).node == root_node) {
        Schedule scatter = give_parts(node, parts, call.lanes());
        co_yield steps_of(scatter);
    }
    if (parts.takes_part()) {
        const Call across = call.on_lane(parts.own(), parts.own(), {.root = root_node});
        Schedule lane = circulant(across);
        co_yield steps_of(lane);
    }
    const Call gathering = call.on_node(parts.own(), vector, {.starts = parts.starts()});
    Schedule allgather = allgather::circulant(gathering);
    co_yield steps_of(allgather);
}

const AlgorithmInfo full_lane_info = {
    .collective = "bcast",
    .name = "full_lane",
    .summary =
        "parts on the root's node, a broadcast on each lane, an allgather on nodes: for long vectors on nodes of "
        "many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::bcast
