// SPDX-License-Identifier: BSD-3-Clause
// k-lane: the scatter of this name backwards. Each node gathers on its leader; then ports + 1 ranges of nodes become
// one, where what comes from other nodes comes to as many ranks of a node, which hand it to their leader.
// [traff2020kported], section 2.3. Rounds between N nodes: ceil(log_{ports+1} N); m (N - 1) / N reach the root's node,
// the least that is possible.
#include <ranges>

#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/algorithms/patterns/node_ranges.hpp"

namespace rondo::gather {

Schedule k_lane(const Call& call) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const NodeRanges nodes(call, static_cast<Rank>(call.setting("ports")));
    const NodeOrder order(call, call.parts(call.output()));
    const Rank leader = nodes.leader(nodes.node());

    const Block elsewhere(0, call.count(), Buffer::output);  // means nothing, but has the length
    const Block range = order.of_nodes(elsewhere, nodes.place().own.first, nodes.place().own.last);
    Block held = range;
    if (r == root) held = call.nodes_in_rank_order() ? call.output() : call.scratch();
    else if (r == leader) held = call.scratch(range.count);
    const auto part_of_held = [&](const Block& part) { return held.part(part.first - range.first, part.count); };

    const Block own = part_of_held(order.of_node(elsewhere, nodes.node()));
    const Call collecting =
        call.on_node(call.input(), own, {.root = call.place(leader).number, .starts = order.ranks()});
    Schedule on_node = binomial(collecting);
    co_yield steps_of(on_node);
    for (const auto& round : std::views::reverse(nodes.place().rounds)) {
        for (Rank number = 0; number < static_cast<Rank>(round.size()); ++number) {
            const topology::RankRange& other = round[static_cast<std::size_t>(number)];
            const Block part = order.of_nodes(elsewhere, other.first, other.last);
            const Rank port = nodes.port(nodes.node(), number);
            Block arrival = part_of_held(part);
            if (r == leader && r != port) co_yield exchange(receive(arrival, port));
            if (r != port) continue;
            if (r != leader) arrival = call.scratch(part.count);
            co_yield exchange(receive(arrival, nodes.leader(other.root)));
            if (r != leader) co_yield exchange(send(arrival, leader));
        }
    }
    if (r == leader && r != root) co_yield exchange(send(held, nodes.parent()));
    if (r == root && !call.nodes_in_rank_order()) {
        Schedule by_ranks = sort_by_ranks(call, held, call.parts(call.output()));
        co_yield steps_of(by_ranks);
    }
}

const AlgorithmInfo k_lane_info = {
    .collective = "gather",
    .name = "k_lane",
    .summary = "gathers on nodes; then ports+1 ranges of nodes become one, received by as many ranks of a node",
    .citation = "traff2020kported",
    .parameters = {&receiving_node_ports, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = k_lane,
};

}  // namespace rondo::gather
