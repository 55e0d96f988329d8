// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph allgather: the parts that a rank has, its own and those of the ranks behind it, about double in every
// round. Rounds: ceil(log2 p) for every p, the fewest possible; each part is received once. [traff2024nonpipelined]
#include <vector>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/patterns/growing_runs.hpp"
#include "rondo/topology/circulant.hpp"

namespace rondo::allgather {

Schedule along_skips(const Call& call, std::span<const Rank> skips) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;
    const GrowingRuns runs = GrowingRuns::along_skips(call.parts(call.output()), r, skips);
    Schedule rounds = grow(call, runs, call.input());
    co_yield steps_of(rounds);
}

Schedule circulant(const Call& call) {
    const topology::CirculantSkips circle(call.ranks().second);
    std::vector<Rank> skips;
    for (int round = 0; round <= circle.rounds(); ++round) skips.push_back(circle.skip(round));
    Schedule rounds = along_skips(call, skips);
    co_yield steps_of(rounds);
}

const AlgorithmInfo circulant_info = {
    .collective = "allgather",
    .name = "circulant",
    .summary = "the parts about double in every round: ceil(log2 p) rounds for every p",
    .citation = "traff2024nonpipelined",
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::allgather
