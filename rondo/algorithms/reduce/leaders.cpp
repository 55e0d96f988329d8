// SPDX-License-Identifier: BSD-3-Clause
// Leaders: one rank of each node gets the sum of its node, and the root that of these ranks, both along binomial trees,
// or between nodes as `lane` says. The root leads its own node. Short vectors, whole in every message: every other node
// sends one. Rounds on N nodes of n ranks: ceil(log2 N) between nodes, ceil(log2 n) within them; if the operator does
// not commute, one more of either, unless the root is the first rank. [traff2020decomposing], section 2, with one lane.
#include "rondo/algorithms/patterns/leaders.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce {

namespace {

constexpr Alternative lanes[] = {{"binomial", binomial}, {"halving_doubling", halving_doubling}};

constexpr Parameter lane = part_parameter("lane", "the reduction of the leaders", lanes);

}  // namespace

Schedule leaders(const Call& call) {
    const Leaders leaders = Leaders::with_root(call);
    const bool is_root = call.ranks().first == call.facts().root;
    const Block sum = is_root ? call.output() : leaders.lead() ? call.scratch() : Block();
    const Call node = call.on_node(call.input(), sum, {.root = leaders.number()});
    Schedule within_node = binomial(node);
    co_yield steps_of(within_node);
    if (!leaders.lead()) co_return;
    const Call across = leaders.on(call, sum, is_root ? sum : Block(), {.root = call.place(call.facts().root).node});
    Schedule between_nodes = lane.part(across);
    co_yield steps_of(between_nodes);
}

const AlgorithmInfo leaders_info = {
    .collective = "reduce",
    .name = "leaders",
    .summary = "whole sums to one rank of each node, then to the root: for short vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&lane, 1},
    .requirements = {&rank_order_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::reduce
