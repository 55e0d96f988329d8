// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly: the way back of the allgather. In every round pairs of ranks, first the distant ones, exchange half
// of what they have, at two thirds of the distances of recursive halving. In an odd number of ranks, one goes through a
// neighbour, whole. [desensi2025bine]. Short and medium vectors. Rounds: ceil(log2 p); volume and operations
// m (p - 1) / p. Of an odd p, the rounds of p - 1 and two more, and up to twice the volume and operations.
#include "rondo/algorithms/patterns/growing_runs.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce_scatter {

Schedule bine_butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;
    const Fold fold = Fold::to_even(p);
    const Rank neighbour = Fold::neighbour(r);
    if (fold.leaves(r)) {
        co_yield exchange(send(call.input(), neighbour));
        co_yield exchange(receive(call.output(), neighbour));
        co_return;
    }
    Block input = call.input(), result = call.output();
    if (fold.is_paired(r)) {
        input = call.scratch();
        co_yield exchange(receive(input, neighbour));
        co_yield combine(call.input(), input).into(input);
        result = call.parts(input).range(r, r + 2);
    }
    const GrowingRuns runs = GrowingRuns::bine(call.parts(input), fold, r);
    Schedule rounds = shrink(call, runs, result);
    co_yield steps_of(rounds);
    if (!fold.is_paired(r)) co_return;
    const Parts sums = call.parts(input);
    co_yield exchange(send(sums[neighbour], neighbour));
    co_yield copy(sums[r]).into(call.output());
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo bine_butterfly_info = {
    .collective = "reduce_scatter",
    .name = "bine_butterfly",
    .summary = "pairs exchange half of what they have, nearer than in recursive halving: about ceil(log2 p) rounds",
    .citation = "desensi2025bine",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = bine_butterfly,
};

}  // namespace rondo::reduce_scatter
