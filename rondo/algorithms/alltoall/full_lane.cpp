// SPDX-License-Identifier: BSD-3-Clause
// Full lane: an all-to-all on each lane, of all that the ranks of a node get from a rank of another; then an all-to-all
// on each node. Rounds on N nodes of n ranks: N - 1 between nodes, n - 1 within; all data travel twice, in p / n + n -
// 2 instead of p - 1 messages of each rank. [traff2020kported], section 2.2: the order of the two is the other one
// there; in this one, nothing is packed before it crosses the network.
#include "rondo/algorithms/alltoall/alltoall.hpp"

namespace rondo::alltoall {
namespace {

constexpr Requirement regular_nodes = {
    "nodes of as many consecutive ranks each", [](const SharedFacts& facts, std::span<const Setting> /*settings*/) {
        const bool met = facts.placement == nullptr || facts.placement->is_regular();
        return met ? std::nullopt
                   : std::optional<std::string>("nodes differ, or their ranks do not follow one another");
    }};

/// The input of a call on a node has, for each node, a part for each rank here. Each rank gets its parts, from all.
Schedule distribute(const Call& call, Rank nodes) {
    const auto [number, ranks] = call.ranks();
    const Count part = call.input().count / ranks / nodes;
    const auto of_rank = [&](Block whole, Rank rank) {
        return BlockRow(whole.part(rank * part, part), nodes, ranks * part);
    };
    const auto packed = [&](Block message) { return BlockRow(message.part(0, part), nodes, part); };
    co_yield copy(of_rank(call.input(), number)).into(of_rank(call.output(), number));
    for (Rank distance = 1; distance < ranks; ++distance) {
        const Rank to = (number + distance) % ranks, from = (number - distance + ranks) % ranks;
        const Block outgoing = call.scratch(nodes * part), incoming = call.scratch(nodes * part);
        co_yield copy(of_rank(call.input(), to)).into(packed(outgoing));
        co_yield exchange(send(outgoing, to), receive(incoming, from));
        co_yield copy(packed(incoming)).into(of_rank(call.output(), from));
    }
}

}  // namespace

Schedule full_lane(const Call& call) {
    const Block arrived = call.ranks_on_node() > 1 ? call.scratch() : call.output();
    const Call across = call.on_lane(call.input(), arrived, {});
    Schedule between_nodes = pairwise(across);
    co_yield steps_of(between_nodes);
    if (call.ranks_on_node() == 1) co_return;
    const Call on_node = call.on_node(arrived, call.output(), {});
    Schedule within = distribute(on_node, call.nodes());
    co_yield steps_of(within);
}

const AlgorithmInfo full_lane_info = {
    .collective = "alltoall",
    .name = "full_lane",
    .summary = "all-to-all on lanes, then on nodes: for short vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .requirements = {&regular_nodes, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::alltoall
