// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the root gives a part to each rank of its node that is in a lane, all lanes broadcast at once, an
// allgather on each node. [traff2020decomposing], section 2. Long vectors, on nodes of several ranks: in pieces, so
// that these phases overlap. Every part enters each node once. The pieces cross the lanes as the blocks of one
// circulant graph broadcast: in pieces - 1 + ceil(log2 N) rounds on N nodes.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::bcast {

Schedule full_lane(const Call& call) {
    const auto [root_node, root_number] = call.place(call.facts().root);
    const bool is_on_root_node = call.place(call.ranks().first).node == root_node;
    const Segments pieces = lane_segments(call, call.output());
    ScratchTurns scratch(call);
    for (Count i = 0; i < pieces.size(); ++i) {
        scratch.next();
        const Block piece = pieces[i];
        const LaneParts parts(call, piece);
        if (is_on_root_node) {
            const Call giving = call.on_node(piece, parts.own(), {.root = root_number, .starts = parts.starts()});
            Schedule scattering = scatter::linear(giving);
            co_yield steps_of(scattering);
        }
        if (parts.takes_part()) {
            const Call across = call.on_lane(parts.own(), parts.own(), {.root = root_node});
            Schedule lane = circulant_block(across, i, pieces.size());
            co_yield steps_of(lane);
        }
        const Call gathering = call.on_node(parts.own(), piece, {.starts = parts.starts()});
        Schedule allgather = allgather::circulant(gathering);
        co_yield steps_of(allgather);
    }
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
