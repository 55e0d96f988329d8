// SPDX-License-Identifier: BSD-3-Clause
// Full lane: for each node, a reduce-scatter of its parts on every node, in even parts for the lanes; a reduce-scatter
// on each lane; then the ranks of a node exchange what is another's. [traff2020decomposing], section 2, but the last
// step, which lets nodes and parts of any length share the lanes evenly: where all are alike, there is nothing to
// exchange. Volume between N nodes, of each of n lanes: m (N - 1) / (N n), the least that is possible. Where nodes
// interleave, the input is sorted by nodes first.
#include <vector>

#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce_scatter {

Schedule full_lane(const Call& call) {
    const Rank own_node = call.place(call.ranks().first).node, nodes = call.nodes();
    const Parts parts = call.parts(call.input());
    const NodeOrder order(call, parts);
    const Block sorted = call.nodes_in_rank_order() ? call.input() : call.scratch();
    const auto of_node = [&](Rank node) { return order.of_node(sorted, node); };
    if (!call.nodes_in_rank_order()) {
        Schedule sorting = sort_by_nodes(call, parts, sorted);
        co_yield steps_of(sorting);
    }

    std::vector<Count> starts = {0};  // of what goes to the nodes over this rank's lane
    for (Rank node = 0; node < nodes; ++node) {
        starts.push_back(starts.back() + LaneParts(call, of_node(node)).own().count);
    }
    const Block lane = call.scratch(starts.back());
    const Parts departures(lane, nodes, starts);
    for (Rank distance = 1; distance <= nodes; ++distance) {
        const Rank node = (own_node + distance) % nodes;  // the own one last
        const LaneParts cut(call, of_node(node));
        const Call reducing = call.on_node(of_node(node), departures[node], {.starts = cut.starts()});
        Schedule on_node = circulant_or_pairwise(reducing);
        co_yield steps_of(on_node);
    }

    const LaneParts cut(call, of_node(own_node));
    const Parts own(of_node(own_node), call.ranks_on_node(), order.ranks());
    const bool is_own = std::ranges::equal(cut.starts(), order.ranks());
    const Block sum = is_own ? call.output() : call.scratch(cut.own().count);
    if (cut.takes_part()) {
        const Call across = call.on_lane(lane, sum, {.starts = starts});
        Schedule between_nodes = circulant_or_pairwise(across);
        co_yield steps_of(between_nodes);
    }
    if (is_own) co_return;
    const Call exchanging = call.on_node(sum, call.output(), {});
    Schedule on_node = divide_anew(exchanging, cut.on_node(), sum, own, call.output());
    co_yield steps_of(on_node);
}

const AlgorithmInfo full_lane_info = {
    .collective = "reduce_scatter",
    .name = "full_lane",
    .summary = "reduce-scatter on nodes, then on lanes: for long vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .requirements = {&rank_order_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::reduce_scatter
