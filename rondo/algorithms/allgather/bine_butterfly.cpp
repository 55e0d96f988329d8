// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly: in every round pairs of ranks exchange all that they have, which doubles it, at two thirds of the
// distances of recursive doubling; the parts of a rank are always a run around the circle, so that nothing but its ends
// is copied. In an odd number of ranks, one goes through a neighbour. [desensi2025bine]. Short vectors. Rounds:
// ceil(log2 p); each part is received once. Of an odd p, those of p - 1 and two more, and volume up to twice that.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/patterns/growing_runs.hpp"

namespace rondo::allgather {

Schedule bine_butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;
    const Fold fold = Fold::to_even(p);
    const Rank neighbour = Fold::neighbour(r);
    const Parts parts = call.parts(call.output());
    if (fold.leaves(r)) {
        co_yield exchange(send(call.input(), neighbour));
        co_yield exchange(receive(call.output(), neighbour));
        co_return;
    }
    Block own = call.input();
    if (fold.is_paired(r)) {
        co_yield copy(call.input()).into(parts[r]);
        co_yield exchange(receive(parts[neighbour], neighbour));
        own = parts.range(r, r + 2);
    }
    const GrowingRuns runs = GrowingRuns::bine(parts, fold, r);
    Schedule rounds = grow(call, runs, own);
    co_yield steps_of(rounds);
    if (fold.is_paired(r)) co_yield exchange(send(call.output(), neighbour));
}

const AlgorithmInfo bine_butterfly_info = {
    .collective = "allgather",
    .name = "bine_butterfly",
    .summary = "pairs exchange all that they have, nearer than in recursive doubling: about ceil(log2 p) rounds",
    .citation = "desensi2025bine",
    .tolerates_in_place = true,
    .schedule = bine_butterfly,
};

}  // namespace rondo::allgather
