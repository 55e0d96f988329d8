// SPDX-License-Identifier: BSD-3-Clause
// Leaders: the first rank of each node collects the parts of its node, these ranks allgather as `lane` says, and each
// gives the result to the ranks of its node, along a binomial tree. Short vectors. Rounds on N nodes of n ranks:
// ceil(log2 N) between nodes; within them n - 1 messages to the leader, and ceil(log2 n) rounds.
// [traff2020decomposing], section 2, with one lane. Where nodes interleave, leaders sort the result by ranks.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo::allgather {

namespace {

constexpr Alternative lanes[] = {
    {"circulant", circulant}, {"bruck", bruck}, {"recursive_doubling", recursive_doubling}};

constexpr Parameter lane = part_parameter("lane", "the allgather of the leaders", lanes);

}  // namespace

Schedule leaders(const Call& call) {
    const auto [own_node, number] = call.place(call.ranks().first);
    const Block vector = call.output();
    const Parts parts = call.parts(vector);
    const NodeOrder order(call, parts);
    const Block sorted = call.nodes_in_rank_order() ? vector : call.scratch();
    const Block of_node = order.of_node(sorted, own_node);

    const Call collecting = call.on_node(call.input(), of_node, {.starts = order.ranks()});
    Schedule gathering = gather::linear(collecting);
    co_yield steps_of(gathering);
    if (number == 0) {
        const Call across = call.on_leaders(of_node, sorted, {.starts = order.nodes()});
        Schedule between_nodes = lane.part(across);
        co_yield steps_of(between_nodes);
    }
    if (number == 0 && !call.nodes_in_rank_order()) {
        Schedule sorting = sort_by_ranks(call, sorted, parts);
        co_yield steps_of(sorting);
    }
    const Call spreading = call.on_node(vector, vector, {});
    Schedule broadcast = bcast::binomial(spreading);
    co_yield steps_of(broadcast);
}

const AlgorithmInfo leaders_info = {
    .collective = "allgather",
    .name = "leaders",
    .summary =
        "parts to one rank of each node, an allgather of these, back on nodes: for short vectors on nodes of "
        "many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&lane, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::allgather
