// SPDX-License-Identifier: BSD-3-Clause
// Multi-leader: some ranks of each node lead a group of its ranks. A leader collects what its group has for all ranks,
// exchanges it with one leader of every other node, and hands out to each rank of its node what came for it. With k
// leaders on each of N nodes of n ranks, k (N - 1) messages leave a node, where full_lane sends n (N - 1); all data
// travel twice inside nodes. For short parts. The leaders exchange as `lane` says: by way of each other (bruck), even
// fewer messages leave a node. Where nodes differ, so do the parts of leaders, and these exchange one after the other.
// [kinkead2025scaling]
#include <algorithm>
#include <vector>

#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo::alltoall {
namespace {

/// The ranks of each node in as many groups as it has leaders, by their numbers. The first of a group leads it.
class Groups {
  public:
    explicit Groups(const Call& call)
        : call_(call), own_(call.place(call.ranks().first)),
          size_(static_cast<Rank>(std::min<Count>(call.setting("leaders"), call.lanes()))) {
        while (group_ + 1 < size_ && of(own_.node, group_ + 1).first <= own_.number) ++group_;
    }

    [[nodiscard]] Placement::Place place() const { return own_; }
    /// The group of this rank.
    [[nodiscard]] Rank own() const { return group_; }
    [[nodiscard]] bool leads() const { return is_led_by(own_.number, group_); }
    /// The group that a rank of this node leads, by its number there; no_rank: none.
    [[nodiscard]] Rank led_by(Rank number) const {
        Rank group = 0;
        while (group < size_ && !is_led_by(number, group)) ++group;
        return group < size_ ? group : no_rank;
    }
    [[nodiscard]] Rank leader(Rank node, Rank group) const { return member(node, group, 0); }
    [[nodiscard]] Rank members(Rank node, Rank group) const { return static_cast<Rank>(of(node, group).count); }
    [[nodiscard]] Rank member(Rank node, Rank group, Rank index) const {
        return call_.rank_at(node, static_cast<Rank>(of(node, group).first) + index);
    }
    /// The ranks in the groups with a number on all nodes, by nodes: their parts come to the leaders of these groups.
    [[nodiscard]] std::vector<Rank> of_all_nodes(Rank group) const {
        std::vector<Rank> all;
        for (Rank node = 0; node < call_.nodes(); ++node) {
            for (Rank index = 0; index < members(node, group); ++index) all.push_back(member(node, group, index));
        }
        return all;
    }

  private:
    [[nodiscard]] bool is_led_by(Rank number, Rank group) const { return of(own_.node, group).first == number; }
    /// The numbers of a group on a node.
    [[nodiscard]] Block of(Rank node, Rank group) const {
        return Parts(Block(0, call_.ranks_on_node(node), Buffer::scratch), size_)[group];
    }

    const Call& call_;
    Placement::Place own_;
    Rank size_, group_ = 0;
};

/// The leader of a group gets the vectors of its ranks, which are sorted by nodes.
Schedule collect(const Call& /*call*/, const Groups& groups, Block by_nodes, Block collected) {
    const Rank node = groups.place().node;
    if (!groups.leads()) {
        co_yield exchange(send(by_nodes, groups.leader(node, groups.own())));
        co_return;
    }
    const Parts vectors(collected, groups.members(node, groups.own()));
    co_yield copy(by_nodes).into(vectors[0]);
    for (Rank index = 1; index < vectors.size(); ++index) {
        co_yield exchange(receive(vectors[index], groups.member(node, groups.own(), index)));
    }
}

/// Have all nodes as many ranks?
bool are_alike(const Call& call) { return call.lanes() * call.nodes() == call.ranks().second; }

/// The leaders of one group of each node exchange, nodes that are alike. `from`: what comes, by nodes.
Schedule across(const Call& call, const Groups& groups, Block collected, const Parts& from) {
    const Rank nodes = call.nodes();
    const Count members = groups.members(groups.place().node, groups.own());
    const Count for_node = call.outgoing(0).count * call.lanes();  // what a rank has for a node
    const Block packed = call.scratch(collected.count);
    for (Rank node = 0; node < nodes; ++node) {
        co_yield copy(BlockRow(collected.part(node * for_node, for_node), members, nodes * for_node))
            .into(BlockRow(packed.part(node * members * for_node, for_node), members, for_node));
    }
    const Call exchanging = call.on_lane(packed, from.range(0, nodes), {});
    Schedule between_leaders = leaders_exchange.part(exchanging);
    co_yield steps_of(between_leaders);
}

/// The leaders of one group of each node exchange, one after the other, where nodes have different numbers of ranks.
Schedule across_unlike(const Call& call, const Groups& groups, const NodeOrder& order, Block collected,
                       const Parts& from) {
    const Rank node = groups.place().node, nodes = call.nodes(), members = groups.members(node, groups.own());
    const Count vector = order.nodes().back();
    for (Rank distance = 0; distance < nodes; ++distance) {
        const Rank next = (node + distance) % nodes, previous = (node - distance + nodes) % nodes;
        const Block first = order.of_node(collected.part(0, vector), next);
        const Block packed = distance == 0 ? from[node] : call.scratch(members * first.count);
        co_yield copy(BlockRow(first, members, vector))
            .into(BlockRow(packed.part(0, first.count), members, first.count));
        if (distance == 0) continue;
        co_yield exchange(send(packed, groups.leader(next, groups.own())),
                          receive(from[previous], groups.leader(previous, groups.own())));
    }
}

/// Where what comes from each node starts, for the leader of a group: each rank of that node's group has a part for
/// each rank of this node.
std::vector<Count> starts_of_arrivals(const Call& call, const Groups& groups, Count for_own_node) {
    std::vector<Count> starts = {0};
    for (Rank node = 0; node < call.nodes(); ++node) {
        starts.push_back(starts.back() + groups.members(node, groups.own()) * for_own_node);
    }
    return starts;
}

/// The leaders of this node send each of its ranks what has come for it.
Schedule hand_out(const Call& call, const Groups& groups, Block arrived) {
    const auto [node, number] = groups.place();
    const Rank ranks = call.ranks_on_node();
    const Count part = call.outgoing(0).count;
    const auto senders = static_cast<Count>(groups.of_all_nodes(groups.own()).size());
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank to = (number + distance) % ranks, from = (number - distance + ranks) % ranks;
        const Rank group = groups.led_by(from);
        Block sent, received;
        if (groups.leads()) {
            sent = call.scratch(senders * part);
            co_yield copy(BlockRow(arrived.part(to * part, part), senders, ranks * part))
                .into(BlockRow(sent.part(0, part), senders, part));
        }
        const std::vector<Rank> origins = group == no_rank ? std::vector<Rank>() : groups.of_all_nodes(group);
        if (distance == 0) {
            received = sent;
        } else {
            if (group != no_rank) received = call.scratch(static_cast<Count>(origins.size()) * part);
            co_yield exchange(send(sent, call.rank_at(node, to)), receive(received, call.rank_at(node, from)));
        }
        if (origins.empty()) continue;
        Schedule putting = put_parts(call, BlockRow(received.part(0, part), 1, part), origins);
        co_yield steps_of(putting);
    }
}

}  // namespace

Schedule multileader(const Call& call) {
    const Parts parts = call.parts(call.input());
    const NodeOrder order(call, parts);
    const Groups groups(call);
    Block by_nodes = call.input();
    if (!call.nodes_in_rank_order()) {
        by_nodes = call.scratch();
        Schedule sorting = sort_by_nodes(call, parts, by_nodes);
        co_yield steps_of(sorting);
    }
    Block collected, arrived;
    if (groups.leads()) {
        const auto senders = static_cast<Count>(groups.of_all_nodes(groups.own()).size());
        collected = call.scratch(groups.members(groups.place().node, groups.own()) * by_nodes.count);
        arrived = call.scratch(senders * order.of_node(by_nodes, groups.place().node).count);
    }
    Schedule collecting = collect(call, groups, by_nodes, collected);
    co_yield steps_of(collecting);
    if (groups.leads()) {
        const Count for_own_node = order.of_node(by_nodes, groups.place().node).count;
        const std::vector<Count> starts = starts_of_arrivals(call, groups, for_own_node);
        const Parts from(arrived, call.nodes(), starts);
        Schedule between_nodes = are_alike(call) ? across(call, groups, collected, from)
                                                 : across_unlike(call, groups, order, collected, from);
        co_yield steps_of(between_nodes);
    }
    Schedule within = hand_out(call, groups, arrived);
    co_yield steps_of(within);
}

namespace {

constexpr Parameter parameters[] = {leaders_parameter, leaders_exchange, radix_parameter};

Count ports_of_leaders(std::span<const Setting> settings) {
    const Count lane = std::ranges::find(settings, leaders_exchange.name, &Setting::name)->value;
    return leader_exchanges[lane].schedule == linear ? most_at_once : 1;
}

}  // namespace

const AlgorithmInfo multileader_info = {
    .collective = "alltoall",
    .name = "multileader",
    .summary =
        "to a few ranks of each node, between these, and from them to all: for short vectors on nodes of many ranks",
    .citation = "kinkead2025scaling",
    .parameters = parameters,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .is_proposed = false,  // a few ranks copy the data of many
    .ports = ports_of_leaders,
    .schedule = multileader,
};

}  // namespace rondo::alltoall
