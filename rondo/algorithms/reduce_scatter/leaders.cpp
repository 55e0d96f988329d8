// SPDX-License-Identifier: BSD-3-Clause
// Leaders: the first rank of each node gets the sum of its node, along a binomial tree, a reduce-scatter of these ranks
// leaves each with the parts of its node, and each gives them to their ranks. Short vectors. Rounds on N nodes of n
// ranks: ceil(log2 N) between nodes, or N - 1 if the operator does not commute; within them ceil(log2 n), and n - 1
// messages from the leader. [traff2020decomposing], section 2, with one lane. Where nodes interleave, leaders sort the
// sum by nodes.
#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::reduce_scatter {

Schedule leaders(const Call& call) {
    const auto [own_node, number] = call.place(call.ranks().first);
    const NodeOrder order(call, call.parts(call.input()));
    const bool leads = number == 0;
    const Block sum = leads ? call.scratch() : Block();
    const Call reducing = call.on_node(call.input(), sum, {});
    Schedule reduction = reduce::binomial(reducing);
    co_yield steps_of(reduction);

    const Block of_node = call.scratch(order.nodes()[static_cast<std::size_t>(own_node) + 1] -
                                       order.nodes()[static_cast<std::size_t>(own_node)]);
    Block sorted = sum;
    if (leads && !call.nodes_in_rank_order()) {
        sorted = call.scratch();
        Schedule sorting = sort_by_nodes(call, call.parts(sum), sorted);
        co_yield steps_of(sorting);
    }
    if (leads) {
        const Call across = call.on_leaders(sorted, of_node, {.starts = order.nodes()});
        Schedule between_nodes = circulant_or_pairwise(across);
        co_yield steps_of(between_nodes);
    }
    const Call giving = call.on_node(of_node, call.output(), {.starts = order.ranks()});
    Schedule scattering = scatter::linear(giving);
    co_yield steps_of(scattering);
}

const AlgorithmInfo leaders_info = {
    .collective = "reduce_scatter",
    .name = "leaders",
    .summary =
        "whole sums to one rank of each node, a reduce-scatter of these, parts on nodes: for short vectors on "
        "nodes of many ranks",
    .citation = "traff2020decomposing",
    .requirements = {&rank_order_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::reduce_scatter
