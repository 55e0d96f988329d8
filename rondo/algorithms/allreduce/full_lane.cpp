// SPDX-License-Identifier: BSD-3-Clause
// Full lane: a reduce-scatter on each node, an allreduce on each lane, an allgather on each node. All ranks of a node
// send and receive between nodes at once, each a part of the vector. [traff2020decomposing], section 2. Long vectors,
// on nodes of several ranks: in pieces, so that these phases overlap. In the lanes, too, a reduce-scatter and an
// allgather. Ranks beyond the lanes have empty parts. Volume between N nodes, of each of n lanes: 2 m (N - 1) / (N n),
// the least that is possible. Lands in the output.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::allreduce {

namespace {

/// A rank's part of a piece.
Block lane_part(const Call& across) { return across.parts(across.output())[across.ranks().first]; }

}  // namespace

Schedule full_lane(const Call& call) {
    // A message between nodes has a part of a rank.
    const Count count = call.segment_count() * call.ranks().second;
    const Segments inputs(call.input(), count), outputs(call.output(), count);
    ScratchTurns scratch(call);
    for (Count i = 0; i < inputs.size() + pieces_ahead; ++i) {
        scratch.next();
        if (i < inputs.size()) {
            const LaneParts parts(call, outputs[i]);
            const Call reducing = call.on_node(inputs[i], parts.own(), {.starts = parts.starts()});
            Schedule on_node = reduce_scatter::circulant_or_pairwise(reducing);
            co_yield steps_of(on_node);
            if (parts.takes_part()) {
                const Call lane = call.on_lane(parts.own(), parts.own(), {});
                const Call across = lane.on(lane.input(), lane_part(lane));
                Schedule on_lane = reduce_scatter::circulant_or_pairwise(across);
                co_yield steps_of(on_lane);
            }
        }
        const Block result = outputs.at(i - pieces_ahead);
        if (result.empty()) continue;
        const LaneParts parts(call, result);
        if (parts.takes_part()) {
            const Call lane = call.on_lane(parts.own(), parts.own(), {});
            const Call across = lane.on(lane_part(lane), lane.output());
            Schedule on_lane = allgather::circulant(across);
            co_yield steps_of(on_lane);
        }
        const Call gathering = call.on_node(parts.own(), result, {.starts = parts.starts()});
        Schedule on_node = allgather::circulant(gathering);
        co_yield steps_of(on_node);
    }
}

constexpr Requirement requirements[] = {rank_order_requirement, segment_requirement};

const AlgorithmInfo full_lane_info = {
    .collective = "allreduce",
    .name = "full_lane",
    .summary =
        "reduce-scatter on nodes, allreduce on lanes, allgather on nodes: for long vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .has_segments_of_parts = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::allreduce
