// SPDX-License-Identifier: BSD-3-Clause
// Leaders: the root sends to one rank of each other node, along a binomial tree, or as `lane` says, and each of those
// to the ranks of its node. The root leads its own node. Short vectors, whole in every message: every node gets one.
// Rounds on N nodes of n ranks: ceil(log2 N) between nodes, ceil(log2 n) within them. Medium vectors go in parts
// between nodes with lane=bine_butterfly. [traff2020decomposing], section 2, with one lane.
#include "rondo/algorithms/patterns/leaders.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"

namespace rondo::bcast {

namespace {

constexpr Alternative lanes[] = {{"binomial", binomial}, {"bine_butterfly", bine_butterfly}, {"k_ported", k_ported}};

constexpr Parameter parameters[] = {part_parameter("lane", "the broadcast to the leaders", lanes), tree_ports, at_once};

Count ports_of_leaders(std::span<const Setting> settings) noexcept { return ports_at_once(settings.subspan(1)); }

}  // namespace

Schedule leaders(const Call& call) {
    const Leaders leaders = Leaders::with_root(call);
    const Block vector = call.output();
    if (leaders.lead()) {
        const Call across = leaders.on(call, vector, vector, {.root = call.place(call.facts().root).node});
        Schedule between_nodes = parameters[0].part(across);
        co_yield steps_of(between_nodes);
    }
    const Call node = call.on_node(vector, vector, {.root = leaders.number()});
    Schedule within_node = binomial(node);
    co_yield steps_of(within_node);
}

const AlgorithmInfo leaders_info = {
    .collective = "bcast",
    .name = "leaders",
    .summary = "whole vectors to one rank of each node, then on nodes: for short vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .parameters = parameters,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .ports = ports_of_leaders,
    .schedule = leaders,
};

}  // namespace rondo::bcast
