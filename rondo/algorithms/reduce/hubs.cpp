// SPDX-License-Identifier: BSD-3-Clause
// Hubs: the broadcast of this name run backwards. Each segment is reduced on every node, by ranks that take turns to
// lead; the leaders send theirs to one node, another one for each segment, which sends the sum to the root's node.
// Other segments cross the network meanwhile. For medium vectors: between N nodes, two latencies and the vector once,
// and N - 2 segments of s bytes: 2 alpha + beta (m + (N - 2) s). Every segment leaves each other node once. If the
// operator does not commute, and the root's node is neither the first nor the last, that node sends its sums to the
// hubs, too.
#include "rondo/algorithms/patterns/hubs.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce {

namespace {

/// From the hub to the root's node, whose own sum is in that of the hub, or is added.
Schedule from_hub(const Call& call, const Hubs& hubs, Count index, Block sum, bool has_all) {
    const Rank hub = hubs.node_of(static_cast<Rank>(index % hubs.size()));
    if (hubs.node() == hub) co_yield exchange(send(sum, hubs.leader_on(hubs.root_node(), index)));
    if (hubs.node() != hubs.root_node()) co_return;
    const Block arrival = has_all ? sum : call.scratch(sum.count);
    co_yield exchange(receive(arrival, hubs.leader_on(hub, index)));
    if (has_all) co_return;
    if (hubs.root_node() == 0) co_yield combine(sum, arrival).into(sum);
    else co_yield combine(arrival, sum).into(sum);
}

/// On the root's node: sums go from those that lead to the root.
Schedule hand_over(const Call& call, const Hubs& hubs, const LedSegments& sums, const Parts& results) {
    const Rank root = call.facts().root;
    for (Count i = 0; i < results.size(); ++i) {
        const Rank leader = hubs.leader_on(hubs.root_node(), i);
        if (leader == root) continue;
        const Block given = sums[static_cast<std::size_t>(i)];
        const Block taken = call.ranks().first == root ? results[i] : Block();
        co_yield exchange(send(given, root), receive(taken, leader));
    }
}

}  // namespace

Schedule hubs(const Call& call) {
    const Hubs hubs = Hubs::around_root(call);
    const bool is_root = call.ranks().first == call.facts().root;
    const bool is_between = hubs.root_node() > 0 && hubs.root_node() + 1 < call.nodes();
    const bool hubs_add_all = is_between && !call.commutative();
    const Parts own = hubs.segments(call.input()), results = hubs.segments(Block(0, call.count(), Buffer::output));
    LedSegments sums(static_cast<std::size_t>(own.size()));
    for (Count i = 0; i < own.size(); ++i) {
        if (hubs.lead(i)) sums[static_cast<std::size_t>(i)] = is_root ? results[i] : call.scratch(own[i].count);
    }
    ScratchTurns scratch(call);
    for (Count wave = 0; wave < hubs.waves(own.size()); ++wave) {
        scratch.next();
        const Count first = wave * hubs.size(), last = std::min(first + hubs.size(), own.size());
        for (Count i = first; i < last; ++i) {
            const Call reducing = call.on_node(own[i], sums[static_cast<std::size_t>(i)], {.root = hubs.leader(i)});
            Schedule within_node = binomial(reducing);
            co_yield steps_of(within_node);
        }
        if (call.nodes() == 1) continue;
        Schedule adding = add_up_at_hubs(call, hubs, wave, sums, hubs_add_all);
        co_yield steps_of(adding);
        for (Count i = first; i < last; ++i) {
            const bool is_hub = hubs.number() == i - first, is_on_root_node = hubs.node() == hubs.root_node();
            if (!hubs.lead(i) || !(is_hub || is_on_root_node)) continue;
            Schedule to_root_node = from_hub(call, hubs, i, sums[static_cast<std::size_t>(i)], hubs_add_all);
            co_yield steps_of(to_root_node);
        }
    }
    // Messages between two ranks keep their order: those of nodes must not wait behind what comes from the network.
    if (hubs.node() != hubs.root_node()) co_return;
    Schedule to_root = hand_over(call, hubs, sums, results);
    co_yield steps_of(to_root);
}

namespace {

constexpr Parameter parameters[] = {segment_parameter, hub_leaders};
constexpr Requirement requirements[] = {rank_order_requirement, segment_requirement};

}  // namespace

const AlgorithmInfo hubs_info = {
    .collective = "reduce",
    .name = "hubs",
    .summary = "each segment summed on another node, then to the root: two latencies between nodes, for medium vectors",
    .citation = "barnett1994building",
    .parameters = parameters,
    .requirements = requirements,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .cuts_whole_vector = true,
    .schedule = hubs,
};

}  // namespace rondo::reduce
