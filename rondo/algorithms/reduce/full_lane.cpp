// SPDX-License-Identifier: BSD-3-Clause
// Full lane: a reduce-scatter on each node, a reduction to the root's node on each lane, a gather on the root's node.
// [traff2020decomposing], section 2. Long vectors, on nodes of several ranks: in pieces, so that these phases overlap.
// Every part leaves each node once. The pieces cross the lanes as the blocks of one circulant graph reduction, or, if
// the operator does not commute, from node to node.
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::reduce {

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first;
    const auto [root_node, root_number] = call.place(call.facts().root);
    const bool is_on_root_node = call.place(r).node == root_node, commutative = call.commutative();
    const Segments pieces = lane_segments(call, call.input());
    const Segments results = lane_segments(call, Block(0, call.count(), Buffer::output));  // exists on the root only
    ScratchTurns scratch(call);
    PiecesAhead sums;
    for (Count i = 0; i < pieces.size() + pieces_ahead; ++i) {
        scratch.next();
        if (i < pieces.size()) {
            const LaneParts parts(call, results[i]);
            const Block summand = call.scratch(parts.own().count);
            sums[i] = r == call.facts().root ? parts.own() : call.scratch(parts.own().count);
            const Call reducing = call.on_node(pieces[i], summand, {.starts = parts.starts()});
            Schedule reduce_scatter = reduce_scatter::circulant_or_pairwise(reducing);
            co_yield steps_of(reduce_scatter);
            if (parts.takes_part()) {
                const Call across = call.on_lane(summand, sums[i], {.root = root_node});
                Schedule lane = commutative ? circulant_block(across, pieces.size() - 1 - i, pieces.size())
                                            : linear_pipeline(across);
                co_yield steps_of(lane);
            }
        }
        const Block result = results.at(i - pieces_ahead);
        if (!is_on_root_node || result.empty()) continue;
        const LaneParts parts(call, result);
        const Block sum = sums[i - pieces_ahead];
        const Call collecting = call.on_node(sum, result, {.root = root_number, .starts = parts.starts()});
        Schedule gathering = gather::linear(collecting);
        co_yield steps_of(gathering);
    }
}

constexpr Requirement requirements[] = {rank_order_requirement, segment_requirement};

const AlgorithmInfo full_lane_info = {
    .collective = "reduce",
    .name = "full_lane",
    .summary =
        "reduce-scatter on nodes, a reduction on each lane, a gather on the root's node: for long vectors on nodes of "
        "many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::reduce
