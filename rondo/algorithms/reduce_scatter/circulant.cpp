// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph reduce-scatter: the parts that a rank still has partial sums of about halve in every round, until its
// own is left. Rounds: ceil(log2 p) for every p, the fewest possible; every part but the own is sent once, p - 1 parts
// are received and combined. [traff2024nonpipelined]
#include <vector>

#include "rondo/algorithms/patterns/growing_runs.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/topology/circulant.hpp"

namespace rondo::reduce_scatter {

Schedule circulant(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;
    const topology::CirculantSkips circle(p);
    std::vector<Rank> skips;
    for (int round = 0; round <= circle.rounds(); ++round) skips.push_back(circle.skip(round));
    const GrowingRuns runs = GrowingRuns::along_skips(call.parts(call.input()), r, skips);
    Schedule rounds = shrink(call, runs, call.output());
    co_yield steps_of(rounds);
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo circulant_info = {
    .collective = "reduce_scatter",
    .name = "circulant",
    .summary = "the parts about halve in every round: ceil(log2 p) rounds for every p, commutative operators",
    .citation = "traff2024nonpipelined",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::reduce_scatter
