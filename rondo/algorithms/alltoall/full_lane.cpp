// SPDX-License-Identifier: BSD-3-Clause
// Full lane: an all-to-all on each lane, of all that the ranks of a node get from a rank of another; then an all-to-all
// on each node. Rounds on N nodes of n ranks: N - 1 between nodes, n - 1 within; all data travel twice, in p / n + n -
// 2 instead of p - 1 messages of each rank. [traff2020kported], section 2.2: the order of the two is the other one
// there; in this one, nothing is packed before it crosses the network. Where nodes differ, the ranks of a smaller node
// stand in for the numbers that it has not, in turn. Long parts are handed on as they come, each from where it stands
// to where it belongs, while the lanes bring the next: p - 1 messages of each rank, of which N - 1 are between nodes.
#include <algorithm>
#include <span>
#include <vector>

#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"
#include "rondo/algorithms/patterns/overlap.hpp"

namespace rondo::alltoall {
namespace {

/// The ranks of a node from which a rank of this node hears: those with its number, and with each that this node has
/// not, in turn.
class Senders {
  public:
    Senders(const Call& call, Rank node, Rank number)
        : call_(call), node_(node), number_(number), turns_(call.ranks_on_node()),
          size_((std::max(0, call.ranks_on_node(node) - number) + turns_ - 1) / turns_) {}

    [[nodiscard]] Rank size() const { return size_; }
    [[nodiscard]] Rank operator[](Rank turn) const { return call_.rank_at(node_, number_ + turn * turns_); }

  private:
    const Call& call_;
    Rank node_, number_, turns_, size_;
};

/// All that this rank has for the node at a distance goes to one rank of it; `arrived`: what comes from the node at
/// this distance before, by its ranks.
Schedule to_node(const Call& call, const NodeOrder& order, Block by_nodes, Rank distance, Block arrived) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank next = (node + distance) % call.nodes(), previous = (node - distance + call.nodes()) % call.nodes();
    const Rank to = call.rank_at(next, number % call.ranks_on_node(next));
    const Senders senders(call, previous, number);
    const Count length = order.of_node(by_nodes, node).count;
    for (Rank turn = 0; turn < std::max(1, senders.size()); ++turn) {
        const bool hears = turn < senders.size();
        const Block sent = turn == 0 ? order.of_node(by_nodes, next) : Block();
        const Block received = hears ? arrived.part(turn * length, length) : Block();
        const Rank from = hears ? senders[turn] : no_rank;
        co_yield exchange(send(sent, to), receive(received, from));
    }
}

/// `arrived`: what comes here, by nodes and by their ranks.
Schedule across(const Call& call, const NodeOrder& order, Block by_nodes, Block arrived) {
    const auto [node, number] = call.place(call.ranks().first);
    const Block own = order.of_node(by_nodes, node);
    std::vector<Count> starts = {0};  // of what comes from each node
    for (Rank each = 0; each < call.nodes(); ++each) {
        starts.push_back(starts.back() + Senders(call, each, number).size() * own.count);
    }
    const Parts from(arrived, call.nodes(), starts);
    co_yield copy(own).into(from[node]);
    for (Rank distance = 1; distance < call.nodes(); ++distance) {
        const Rank previous = (node - distance + call.nodes()) % call.nodes();
        Schedule exchanging = to_node(call, order, by_nodes, distance, from[previous]);
        co_yield steps_of(exchanging);
    }
}

/// The ranks whose parts come to a rank of this node: by nodes.
std::vector<Rank> heard_by(const Call& call, Rank number) {
    std::vector<Rank> all;
    for (Rank node = 0; node < call.nodes(); ++node) {
        const Senders senders(call, node, number);
        for (Rank turn = 0; turn < senders.size(); ++turn) all.push_back(senders[turn]);
    }
    return all;
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
        Schedule putting = put_parts(call, incoming, senders);
        co_yield steps_of(putting);
    }
}

/// What came from one node, to those ranks of this one for whom it is.
Schedule hand_on(const Call& call, Rank origin, Block arrived) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank ranks = call.ranks_on_node(), there = call.ranks_on_node(origin);
    const Count part = call.outgoing(0).count;
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank to = (number + distance) % ranks, from = (number - distance + ranks) % ranks;
        for (Rank first = 0; first + std::min(number, from) < there; first += ranks) {  // senders, as Senders has them
            Block sent, received;
            if (first + number < there) sent = arrived.part((first + to) * part, part);
            if (first + from < there) received = call.incoming(call.rank_at(origin, first + from));
            if (distance == 0) co_yield copy(sent).into(received);
            else co_yield exchange(send(sent, call.rank_at(node, to)), receive(received, call.rank_at(node, from)));
        }
    }
}

/// From one node after the other; the next is asked before what this one sent is handed on.
Schedule node_by_node(const Call& call, const NodeOrder& order, Block by_nodes) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank nodes = call.nodes();
    Block arrived = order.of_node(by_nodes, node);
    for (Rank distance = 0; distance < nodes; ++distance) {
        Block coming;
        if (distance + 1 < nodes) {
            const Rank previous = (node - distance - 1 + nodes) % nodes;
            coming = call.scratch(Senders(call, previous, number).size() * order.of_node(by_nodes, node).count);
            Schedule exchanging = to_node(call, order, by_nodes, distance + 1, coming);
            co_yield steps_of(exchanging);
        }
        Schedule within = hand_on(call, (node - distance + nodes) % nodes, arrived);
        co_yield steps_of(within);
        arrived = coming;
    }
}

/// Lanes bring what is for a node while the node hands on what they have brought.
Schedule at_once(const Call& call) {
    const Parts parts = call.parts(call.input());
    const NodeOrder order(call, parts);
    Block by_nodes = call.input();
    if (!call.nodes_in_rank_order()) {
        by_nodes = call.scratch();
        Schedule sorting = sort_by_nodes(call, parts, by_nodes);
        co_yield steps_of(sorting);
    } else if (call.in_place()) {  // what comes must not overwrite what has to leave
        by_nodes = call.scratch();
        co_yield copy(call.input()).into(by_nodes);
    }
    Schedule overlapping = node_by_node(call, order, by_nodes);
    co_yield steps_of(overlapping);
}

/// Is there nobody to hand on to, so that all that comes can go to the output at once?
bool is_alone(const Call& call) { return call.ranks_on_node() == 1 && call.nodes_in_rank_order() && !call.in_place(); }

}  // namespace

Schedule lanes_then_nodes(const Call& call) {
    const Parts parts = call.parts(call.input());
    const NodeOrder order(call, parts);
    const auto [node, number] = call.place(call.ranks().first);
    Block by_nodes = call.input();
    if (!call.nodes_in_rank_order()) {
        by_nodes = call.scratch();
        Schedule sorting = sort_by_nodes(call, parts, by_nodes);
        co_yield steps_of(sorting);
    }
    const Count arrivals = static_cast<Count>(heard_by(call, number).size()) * order.of_node(by_nodes, node).count;
    const Block arrived = is_alone(call) ? call.output() : call.scratch(arrivals);
    Schedule between_nodes = across(call, order, by_nodes, arrived);
    co_yield steps_of(between_nodes);
    if (is_alone(call)) co_return;
    Schedule within = distribute(call, arrived);
    co_yield steps_of(within);
}

Schedule full_lane(const Call& call) {
    return overlaps(call) && !is_alone(call) ? at_once(call) : lanes_then_nodes(call);
}

const AlgorithmInfo full_lane_info = {
    .collective = "alltoall",
    .name = "full_lane",
    .summary = "all-to-all on lanes, then on nodes: for vectors on nodes of many ranks, handed on as they come if long",
    .citation = "traff2020kported",
    .parameters = {&overlap_parameter, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::alltoall
