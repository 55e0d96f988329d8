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

/// On the root's node: a segment goes to whoever leads there.
Schedule hand_over(const Call& call, const Hubs& hubs, Count index, Block segment) {
    const Rank root = call.facts().root, leader = hubs.leader_on(hubs.root_node(), index);
    if (hubs.node() != hubs.root_node() || leader == root) co_return;
    const Block given = call.ranks().first == root ? segment : Block(), taken = hubs.lead(index) ? segment : Block();
    co_yield exchange(send(given, leader), receive(taken, root));
}

/// From the root's node to the hub.
Schedule to_hub(const Call& call, const Hubs& hubs, Count index, Block segment) {
    const auto hub = static_cast<Rank>(index % hubs.size());
    if (!hubs.lead(index) || call.nodes() == 1) co_return;
    const Block given = hubs.node() == hubs.root_node() ? segment : Block();
    const Block taken = hubs.number() == hub ? segment : Block();
    co_yield exchange(send(given, hubs.leader_on(hubs.node_of(hub), index)),
                      receive(taken, hubs.leader_on(hubs.root_node(), index)));
}

/// To the ranks of this node, from the one that leads; the root has the segment.
Schedule on_node(const Call& call, const Hubs& hubs, Count index, Block segment) {
    const Rank root = call.facts().root, ranks = call.ranks_on_node();
    std::vector<Rank> group;
    Rank place = no_rank;
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank rank = call.rank_at(hubs.node(), (hubs.leader(index) + distance) % ranks);
        if (distance > 0 && rank == root) continue;
        if (rank == call.ranks().first) place = static_cast<Rank>(group.size());
        group.push_back(rank);
    }
    if (place == no_rank) co_return;
    const Call spreading = call.on(RankMap(group), place, segment, segment, {.root = 0});
    Schedule within_node = binomial(spreading);
    co_yield steps_of(within_node);
}

}  // namespace

Schedule hubs(const Call& call) {
    const Hubs hubs = Hubs::around_root(call);
    const Parts segments = hubs.segments(call.output());
    LedSegments led(static_cast<std::size_t>(segments.size()));
    for (Count i = 0; i < segments.size(); ++i) {
        if (hubs.lead(i)) led[static_cast<std::size_t>(i)] = segments[i];
    }
    for (Count wave = 0; wave < hubs.waves(segments.size()); ++wave) {
        const Count first = wave * hubs.size(), last = std::min(first + hubs.size(), segments.size());
        for (Count i = first; i < last; ++i) {
            Schedule to_leader = hand_over(call, hubs, i, segments[i]);
            co_yield steps_of(to_leader);
            Schedule between_nodes = to_hub(call, hubs, i, segments[i]);
            co_yield steps_of(between_nodes);
        }
        Schedule to_all = spread_from_hubs(call, hubs, wave, led);
        co_yield steps_of(to_all);
        for (Count i = first; i < last; ++i) {
            Schedule within_node = on_node(call, hubs, i, segments[i]);
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
