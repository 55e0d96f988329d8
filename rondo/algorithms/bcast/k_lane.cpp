// SPDX-License-Identifier: BSD-3-Clause
// k-lane: the k-ported broadcast with nodes for processors. Whoever leads a node gives the vector to as many ranks of
// it as messages leave the node at a time, and these ports send it to other nodes, one message each. In the end each
// port gives it to its share of the other ranks of the node. [traff2020kported], section 2.3. Short vectors, whole in
// every message: every node gets one. Rounds between N nodes: ceil(log_{ports+1} N), if they have as many ranks as
// ports.
//
// With whole_node=1, all ranks of a node have the vector before any port sends it: what section 4 measures.
#include <algorithm>
#include <vector>

#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/node_ranges.hpp"

namespace rondo::bcast {

Schedule k_lane(const Call& call) {
    const NodeRanges nodes(call, static_cast<Rank>(call.setting("ports")));
    const auto& rounds = nodes.place().rounds;
    const Rank ranks = call.ranks_on_node(), place = nodes.place_on_node();
    const Rank ports = rounds.empty() ? 1 : std::min(ranks, static_cast<Rank>(rounds.front().size()));
    const Rank first_holders = call.setting("whole_node") == 1 ? ranks : ports;
    const Block vector = call.output();

    if (place == 0) co_yield exchange(receive(vector, nodes.parent()));
    if (place < first_holders) {
        const std::vector<Rank> group = nodes.on_node(0, 1, first_holders);
        const Call giving = call.on(RankMap(group), place, vector, vector, {.root = 0});
        Schedule to_ports = binomial(giving);
        co_yield steps_of(to_ports);
    }
    for (const auto& round : rounds) {
        for (Rank number = place; number < static_cast<Rank>(round.size()); number += ranks) {
            co_yield exchange(send(vector, nodes.leader(round[static_cast<std::size_t>(number)].root)));
        }
    }
    const std::vector<Rank> share = nodes.on_node(place % first_holders, first_holders, ranks);
    const Call sharing = call.on(RankMap(share), place / first_holders, vector, vector, {.root = 0});
    Schedule to_the_rest = binomial(sharing);
    co_yield steps_of(to_the_rest);
}

constexpr Parameter parameters[] = {
    node_ports,
    {.name = "whole_node",
     .summary = "who has the vector before it leaves a node: 0: those that send it; 1: all ranks of the node",
     .minimum = 0,
     .maximum = 1,
     .standard = 0},
};

const AlgorithmInfo k_lane_info = {
    .collective = "bcast",
    .name = "k_lane",
    .summary =
        "whole vectors to nodes, sent by ports ranks of a node at a time: for short vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .parameters = parameters,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = k_lane,
};

}  // namespace rondo::bcast
