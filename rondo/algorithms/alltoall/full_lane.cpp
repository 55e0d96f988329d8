// SPDX-License-Identifier: BSD-3-Clause
// Full lane: an all-to-all on each lane, of all that the ranks of a node get from a rank of another; then an all-to-all
// on each node. Rounds on N nodes of n ranks: N - 1 between nodes, n - 1 within; all data travel twice, in p / n + n -
// 2 instead of p - 1 messages of each rank. [traff2020kported], section 2.2: the order of the two is the other one
// there; in this one, nothing is packed before it crosses the network. Where nodes differ, the ranks of a smaller node
// stand in for the numbers that it has not, in turn.
#include <algorithm>
#include <span>
#include <vector>

#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo::alltoall {
namespace {

/// All that this rank has for a node goes to one rank of it. `arrived`: what comes here, by nodes and by their ranks.
Schedule across(const Call& call, const NodeOrder& order, Block by_nodes, Block arrived) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank nodes = call.nodes(), ranks = call.ranks_on_node();
    const Count length = order.of_node(by_nodes, node).count;
    std::vector<Rank> starts = {0};  // of the senders on each node
    for (Rank each = 0; each < nodes; ++each) {
        const Rank more = call.ranks_on_node(each) - number;
        starts.push_back(starts.back() + std::max(0, (more + ranks - 1) / ranks));
    }
    const auto arrival = [&](Rank sender) { return arrived.part(sender * length, length); };
    co_yield copy(order.of_node(by_nodes, node)).into(arrival(starts[static_cast<std::size_t>(node)]));
    for (Rank distance = 1; distance < nodes; ++distance) {
        const Rank next = (node + distance) % nodes, previous = (node - distance + nodes) % nodes;
        const Rank to = call.rank_at(next, number % call.ranks_on_node(next));
        const Rank first = starts[static_cast<std::size_t>(previous)];
        const Rank senders = starts[static_cast<std::size_t>(previous) + 1] - first;
        for (Rank turn = 0; turn < std::max(1, senders); ++turn) {
            const Block sent = turn == 0 ? order.of_node(by_nodes, next) : Block();
            const Block received = turn < senders ? arrival(first + turn) : Block();
            const Rank from = turn < senders ? call.rank_at(previous, number + turn * ranks) : no_rank;
            co_yield exchange(send(sent, to), receive(received, from));
        }
    }
}

/// The ranks whose parts come to a rank of this node: by nodes.
std::vector<Rank> heard_by(const Call& call, Rank number) {
    std::vector<Rank> senders;
    for (Rank node = 0; node < call.nodes(); ++node) {
        for (Rank other = number; other < call.ranks_on_node(node); other += call.ranks_on_node()) {
            senders.push_back(call.rank_at(node, other));
        }
    }
    return senders;
}

/// Parts from these ranks to their places; as one row where the ranks have equal distances.
Schedule put(const Call& call, BlockRow parts, std::span<const Rank> senders) {
    for (std::size_t first = 0, last = 0; first < senders.size(); first = last) {
        const Rank distance = first + 1 < senders.size() ? senders[first + 1] - senders[first] : 0;
        for (last = first + 1; last < senders.size() && senders[last] - senders[last - 1] == distance;) ++last;
        const auto number = static_cast<Count>(last - first);
        const BlockRow from(parts[static_cast<Count>(first)], number, parts.distance);
        co_yield copy(from).into(BlockRow(call.incoming(senders[first]), number, distance * parts.first.count));
    }
}

/// What came to the ranks of this node, to those of them for whom it is.
Schedule distribute(const Call& call, Block arrived) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank ranks = call.ranks_on_node();
    const Count part = call.outgoing(0).count;
    const std::vector<Rank> here = heard_by(call, number);
    const auto row = [&](Block whole, std::size_t parts, Count distance) {
        return BlockRow(whole.part(0, part), static_cast<Count>(parts), distance);
    };
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank to = (number + distance) % ranks, from = (number - distance + ranks) % ranks;
        const BlockRow outgoing = row(arrived.part(to * part, arrived.count - to * part), here.size(), ranks * part);
        const std::vector<Rank> senders = heard_by(call, from);
        BlockRow incoming = outgoing;
        if (distance > 0) {
            const Block sent = call.scratch(static_cast<Count>(here.size()) * part);
            const Block received = call.scratch(static_cast<Count>(senders.size()) * part);
            co_yield copy(outgoing).into(row(sent, here.size(), part));
            co_yield exchange(send(sent, call.rank_at(node, to)), receive(received, call.rank_at(node, from)));
            incoming = row(received, senders.size(), part);
        }
        Schedule putting = put(call, incoming, senders);
        co_yield steps_of(putting);
    }
}

}  // namespace

Schedule full_lane(const Call& call) {
    const Parts parts = call.parts(call.input());
    const NodeOrder order(call, parts);
    Block by_nodes = call.input();
    if (!call.nodes_in_rank_order()) {
        by_nodes = call.scratch();
        Schedule sorting = sort_by_nodes(call, parts, by_nodes);
        co_yield steps_of(sorting);
    }
    const auto [node, number] = call.place(call.ranks().first);
    const bool is_alone = call.ranks_on_node() == 1 && call.nodes_in_rank_order() && !call.in_place();
    const Count arrivals = static_cast<Count>(heard_by(call, number).size()) * order.of_node(by_nodes, node).count;
    const Block arrived = is_alone ? call.output() : call.scratch(arrivals);
    Schedule between_nodes = across(call, order, by_nodes, arrived);
    co_yield steps_of(between_nodes);
    if (is_alone) co_return;
    Schedule within = distribute(call, arrived);
    co_yield steps_of(within);
}

const AlgorithmInfo full_lane_info = {
    .collective = "alltoall",
    .name = "full_lane",
    .summary = "all-to-all on lanes, then on nodes: for short vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::alltoall
