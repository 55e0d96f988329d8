// SPDX-License-Identifier: BSD-3-Clause
// Hubs: the root's node sends each segment to one other node, another one each time, which sends it to all the rest;
// every node hands out what it has while the next segments cross the network. That is a scatter and an allgather
// [barnett1994building], whose messages go straight to where they belong, one segment after the other. For medium
// vectors: between N nodes, two latencies and the vector once, and N - 2 segments of s bytes: 2 alpha + beta (m +
// (N - 2) s). Every segment enters each other node once.
#include "rondo/algorithms/patterns/hubs.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"

namespace rondo::bcast {

namespace {

// Where a rank has nothing to do with a segment, nothing is nested: thousands of empty schedules in a row would fill
// the stack of a build that does not turn calls at the end of functions into jumps.

/// On the root's node: a segment goes to whoever leads there.
Exchange<2> to_leader(const Call& call, const Hubs& hubs, Count index, Block segment) {
    const Rank root = call.facts().root, leader = hubs.leader_on(hubs.root_node(), index);
    const bool gives = call.ranks().first == root, takes = call.ranks().first == leader;
    return exchange(send(gives && !takes ? segment : Block(), leader),
                    receive(takes && !gives ? segment : Block(), root));
}

/// From the leader on the root's node to that on the hub.
Exchange<2> to_hub(const Hubs& hubs, Count index, Block segment) {
    const auto hub = static_cast<Rank>(index % hubs.size());
    const bool leads = hubs.lead(index), gives = leads && hubs.node() == hubs.root_node();
    const bool takes = leads && hubs.number() == hub;
    return exchange(send(gives ? segment : Block(), hubs.leader_on(hubs.node_of(hub), index)),
                    receive(takes ? segment : Block(), hubs.leader_on(hubs.root_node(), index)));
}

/// The ranks of this node that take part when it hands out a segment: first the one that leads, and not the root, which
/// has the segment, if it does not lead.
std::vector<Rank> group_on_node(const Call& call, const Hubs& hubs, Count index) {
    const Rank ranks = call.ranks_on_node();
    std::vector<Rank> group;
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank rank = call.rank_at(hubs.node(), (hubs.leader(index) + distance) % ranks);
        if (distance == 0 || rank != call.facts().root) group.push_back(rank);
    }
    return group;
}

}  // namespace

Schedule hubs(const Call& call) {
    const Hubs hubs = Hubs::around_root(call);
    const bool is_on_root_node = hubs.node() == hubs.root_node();
    const Parts segments = hubs.segments(call.output());
    LedSegments led(static_cast<std::size_t>(segments.size()));
    for (Count i = 0; i < segments.size(); ++i) {
        if (hubs.lead(i)) led[static_cast<std::size_t>(i)] = segments[i];
    }
    // Nodes hand a wave out behind the next one's messages to other nodes: these come first where both could start.
    for (Count wave = 0; wave <= hubs.waves(segments.size()); ++wave) {
        const Count first = wave * hubs.size(), last = std::min(first + hubs.size(), segments.size());
        for (Count i = first; i < last; ++i) {
            const Exchange<2> on_root_node = to_leader(call, hubs, i, segments[i]);
            if (is_on_root_node) co_yield on_root_node;
            const Exchange<2> between_nodes = to_hub(hubs, i, segments[i]);
            if (call.nodes() > 1) co_yield between_nodes;
        }
        Schedule to_all = spread_from_hubs(call, hubs, wave, led);
        co_yield steps_of(to_all);
        for (Count i = std::max<Count>(0, first - hubs.size()); i < std::min(first, segments.size()); ++i) {
            const std::vector<Rank> group = group_on_node(call, hubs, i);
            const auto place = std::ranges::find(group, call.ranks().first);
            if (place == group.end() || group.size() == 1) continue;
            const auto number = static_cast<Rank>(place - group.begin());
            const Call handing_out = call.on(RankMap(group), number, segments[i], segments[i], {.root = 0});
            Schedule within_node = binomial(handing_out);
            co_yield steps_of(within_node);
        }
    }
}

namespace {

constexpr Parameter parameters[] = {segment_parameter, hub_leaders};

}  // namespace

const AlgorithmInfo hubs_info = {
    .collective = "bcast",
    .name = "hubs",
    .summary = "each segment to another node, and from there to all: two latencies between nodes, for medium vectors",
    .citation = "barnett1994building",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .cuts_whole_vector = true,
    .schedule = hubs,
};

}  // namespace rondo::bcast
