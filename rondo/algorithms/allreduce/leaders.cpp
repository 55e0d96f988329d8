// SPDX-License-Identifier: BSD-3-Clause
// Leaders: the first rank of each node gets the sum of its node, along a binomial tree, these ranks allreduce by
// recursive doubling, or as `lane` says, and each gives the result to the ranks of its node. Short vectors, whole in
// every message. Rounds on N nodes of n ranks: ceil(log2 N) between nodes, one more if N is no power of two; 2
// ceil(log2 n) within them. By recursive multiplying up to `radix` nodes take one round between them, whose messages go
// at once. [traff2020decomposing], section 2, with one lane.
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::allreduce {

namespace {

constexpr Alternative lanes[] = {{"recursive_doubling", recursive_doubling},
                                 {"recursive_multiplying", recursive_multiplying},
                                 {"halving_doubling", halving_doubling},
                                 {"binary_tree", binary_tree}};

constexpr Parameter parameters[] = {part_parameter("lane", "the allreduce of the leaders", lanes), multiplying_radix};

}  // namespace

Schedule leaders(const Call& call) {
    const Block vector = call.output();
    const Call reducing = call.on_node(call.input(), vector, {});
    Schedule reduction = reduce::binomial(reducing);
    co_yield steps_of(reduction);
    if (call.place(call.ranks().first).number == 0) {
        const Call across = call.on_leaders(vector, vector, {});
        Schedule between_nodes = parameters[0].part(across);
        co_yield steps_of(between_nodes);
    }
    const Call spreading = call.on_node(vector, vector, {});
    Schedule broadcast = bcast::binomial(spreading);
    co_yield steps_of(broadcast);
}

const AlgorithmInfo leaders_info = {
    .collective = "allreduce",
    .name = "leaders",
    .summary =
        "whole sums to one rank of each node, an allreduce of these, back on nodes: for short vectors on nodes of many "
        "ranks",
    .citation = "traff2020decomposing",
    .parameters = parameters,
    .requirements = {&rank_order_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::allreduce
