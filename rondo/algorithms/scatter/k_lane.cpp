// SPDX-License-Identifier: BSD-3-Clause
// k-lane: the k-ported scatter with nodes for processors. Whoever leads a node has what a range of nodes gets, and
// divides it into ports + 1 ranges; it gives what leaves the node to other ranks of it, each of which sends it to
// another node. In the end it scatters what is left on its node. [traff2020kported], section 2.3. Rounds between N
// nodes: ceil(log_{ports+1} N); m (N - 1) / N leave the root's node, the least that is possible.
#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/algorithms/patterns/node_ranges.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {

Schedule k_lane(const Call& call) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const NodeRanges nodes(call, static_cast<Rank>(call.setting("ports")));
    const NodeOrder order(call, call.parts(call.input()));
    const Rank leader = nodes.leader(nodes.node());

    const Block elsewhere(0, call.count(), Buffer::input);  // means nothing, but has the length
    const Block range = order.of_nodes(elsewhere, nodes.place().own.first, nodes.place().own.last);
    Block held = r == root ? call.input() : range;
    if (r == root && !call.nodes_in_rank_order()) {
        held = call.scratch();
        Schedule by_nodes = sort_by_nodes(call, call.parts(call.input()), held);
        co_yield steps_of(by_nodes);
    }
    if (r == leader && r != root) {
        held = call.scratch(range.count);
        co_yield exchange(receive(held, nodes.parent()));
    }
    const auto part_of_held = [&](const Block& part) { return held.part(part.first - range.first, part.count); };
    for (const auto& round : nodes.place().rounds) {
        // What the leader sends itself comes last: the others have theirs by then.
        for (Rank number = static_cast<Rank>(round.size()) - 1; number >= 0; --number) {
            const topology::RankRange& other = round[static_cast<std::size_t>(number)];
            const Block part = order.of_nodes(elsewhere, other.first, other.last);
            const Rank port = nodes.port(nodes.node(), number);
            Block departure = part_of_held(part);
            if (r == leader && r != port) co_yield exchange(send(departure, port));
            if (r != port) continue;
            if (r != leader) departure = call.scratch(part.count);
            if (r != leader) co_yield exchange(receive(departure, leader));
            co_yield exchange(send(departure, nodes.leader(other.root)));
        }
    }
    const Block own = part_of_held(order.of_node(elsewhere, nodes.node()));
    // In place, the root's part is where it belongs, and nobody writes there.
    const bool is_elsewhere = call.in_place() && !call.nodes_in_rank_order();
    const Block result = is_elsewhere ? call.scratch(call.output().count) : call.output();
    const Call giving = call.on_node(own, result, {.root = call.place(leader).number, .starts = order.ranks()});
    Schedule on_node = binomial(giving);
    co_yield steps_of(on_node);
}

const AlgorithmInfo k_lane_info = {
    .collective = "scatter",
    .name = "k_lane",
    .summary = "ports+1 ranges of every range of nodes, sent by as many ranks of a node; then scatters on nodes",
    .citation = "traff2020kported",
    .parameters = {&node_ports, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = k_lane,
};

}  // namespace rondo::scatter
