// SPDX-License-Identifier: BSD-3-Clause
// Full lane: a reduce-scatter on each node, an allreduce on each lane, an allgather on each node. All ranks of a node
// send and receive between nodes at once, each a part of the vector. [traff2020decomposing], section 2. Long vectors,
// on nodes of several ranks. Ranks beyond the lanes have empty parts. Volume between N nodes, of each of n lanes: 2 m
// (N - 1) / (N n), the least that is possible. Lands in the output.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::allreduce {

Schedule full_lane(const Call& call) {
    const LaneParts lanes(call, call.output());
    const Call::Within cut{.starts = lanes.starts()};
    const bool commutative = call.commutative();

    const Call reducing = call.on_node(call.input(), lanes.own(), cut);
    Schedule reduce_scatter = commutative ? reduce_scatter::circulant(reducing) : reduce_scatter::pairwise(reducing);
    co_yield steps_of(reduce_scatter);
    if (lanes.takes_part()) {
        const Call across = call.on_lane(lanes.own(), lanes.own(), {});
        Schedule allreduce = commutative ? circulant(across) : halving_doubling(across);
        co_yield steps_of(allreduce);
    }
    const Call gathering = call.on_node(lanes.own(), call.output(), cut);
    Schedule allgather = allgather::circulant(gathering);
    co_yield steps_of(allgather);
}

constexpr Requirement requirements[] = {rank_order_requirement};

const AlgorithmInfo full_lane_info = {
    .collective = "allreduce",
    .name = "full_lane",
    .summary =
        "reduce-scatter on nodes, allreduce on lanes, allgather on nodes: for long vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .requirements = requirements,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::allreduce
