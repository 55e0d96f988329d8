// SPDX-License-Identifier: BSD-3-Clause
// Hubs: each segment is reduced on every node, by ranks that take turns to lead; the leaders send theirs to one node,
// another one for each segment, which sends the sum back to all; and leaders give it to their nodes. That is a
// reduce-scatter and an allgather [barnett1994building], whose messages go straight to where they belong. For medium
// vectors: two latencies between N nodes, and the least volume: 2 alpha + 2 beta m (N - 1) / N. Lands in the output.
#include "rondo/algorithms/patterns/hubs.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::allreduce {

Schedule hubs(const Call& call) {
    const Hubs hubs = Hubs::everywhere(call);
    const Parts own = hubs.segments(call.input()), results = hubs.segments(call.output());
    LedSegments sums(static_cast<std::size_t>(own.size()));
    for (Count i = 0; i < own.size(); ++i) {
        if (hubs.lead(i)) sums[static_cast<std::size_t>(i)] = results[i];
    }
    const Count waves = hubs.waves(own.size());
    ScratchTurns scratch(call);
    // Sums go back behind the next wave, and on nodes behind the one after that: what is on its way to the hubs, and to
    // other nodes, comes first where both could start.
    for (Count wave = 0; wave < waves + 2; ++wave) {
        scratch.next();
        for (Count i = wave * hubs.size(); i < std::min((wave + 1) * hubs.size(), own.size()); ++i) {
            const Call reducing = call.on_node(own[i], sums[static_cast<std::size_t>(i)], {.root = hubs.leader(i)});
            Schedule within_node = reduce::binomial(reducing);
            co_yield steps_of(within_node);
        }
        if (wave < waves) {
            Schedule adding = add_up_at_hubs(call, hubs, wave, sums, true);
            co_yield steps_of(adding);
        }
        if (wave >= 1 && wave <= waves) {
            Schedule spreading = spread_from_hubs(call, hubs, wave - 1, sums);
            co_yield steps_of(spreading);
        }
        if (wave < 2 || call.ranks_on_node() == 1) continue;
        for (Count i = (wave - 2) * hubs.size(); i < std::min((wave - 1) * hubs.size(), own.size()); ++i) {
            const Call handing_out = call.on_node(results[i], results[i], {.root = hubs.leader(i)});
            Schedule within_node = bcast::binomial(handing_out);
            co_yield steps_of(within_node);
        }
    }
}

namespace {

constexpr Parameter parameters[] = {segment_parameter, hub_leaders};
constexpr Requirement requirements[] = {rank_order_requirement, segment_requirement};

}  // namespace

const AlgorithmInfo hubs_info = {
    .collective = "allreduce",
    .name = "hubs",
    .summary = "each segment summed on another node, and back to all: two latencies between nodes, for medium vectors",
    .citation = "barnett1994building",
    .parameters = parameters,
    .requirements = requirements,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .cuts_whole_vector = true,
    .schedule = hubs,
};

}  // namespace rondo::allreduce
