// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly: the root's vector is scattered, in halves from the nearest partner to the farthest, then everyone
// gathers all parts the same way back: the longest messages go to the nearest ranks, at two thirds of the distances of
// a butterfly whose partners differ in one bit. Ranks beyond a power of two get the vector from a neighbour.
// [desensi2025bine]. Medium and long vectors: time about 2*beta*m. Rounds: 2*log2 p, or 2*floor(log2 p) + 1.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo::bcast {

Schedule bine_butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root, neighbour = Fold::neighbour(r);
    const Fold fold = Fold::to_power_of_two(p, root);
    const Block vector = call.output();
    if (fold.leaves(r)) {
        co_yield exchange(receive(vector, neighbour));
        co_return;
    }
    const Halving halving = Halving::bine(fold, r, call.count());
    Schedule down = spread(call, halving, vector);
    co_yield steps_of(down);
    Schedule together = regather(call, halving, vector, root);
    co_yield steps_of(together);
    if (fold.is_paired(r)) co_yield exchange(send(vector, neighbour));
}

const AlgorithmInfo bine_butterfly_info = {
    .collective = "bcast",
    .name = "bine_butterfly",
    .summary = "a part for each rank, then all gather all parts, the longest messages between neighbours",
    .citation = "desensi2025bine",
    .tolerates_in_place = true,
    .schedule = bine_butterfly,
};

}  // namespace rondo::bcast
