// SPDX-License-Identifier: BSD-3-Clause
// Halving and doubling: a reduce-scatter by vector halving and distance doubling, so that the longest messages go to
// the nearest rank, and an allgather the same way back. Ranks beyond a power of two are eliminated in pairs, each rank
// of which reduces half the vector. In rank order. [rabenseifner2004collective], section 3.5. Long vectors. Rounds:
// 2 log2 p, or 3 + 2 floor(log2 p); volume: 2 m (p - 1) / p, or up to 4 m; operations: m (p - 1) / p, or up to 1.5 m.
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo::allreduce {

Schedule halve_and_double(const Call& call, HalvingOf halving_of) {
    const auto [r, p] = call.ranks();
    const Fold fold = Fold::to_power_of_two(p);
    const Block vector = call.output();
    Block partial = call.input();
    if (fold.is_paired(r)) {
        Schedule elimination = eliminate(call, fold, vector);
        co_yield steps_of(elimination);
        partial = vector;
    }
    if (fold.leaves(r)) {
        co_yield exchange(receive(vector, Fold::neighbour(r)));
        co_return;
    }

    const Halving halving = halving_of(fold, r, call.count());
    Schedule reduce_scatter = halve(call, halving, partial, vector, within(vector, halving.part()));
    co_yield steps_of(reduce_scatter);
    Schedule allgather = regather(call, halving, vector);
    co_yield steps_of(allgather);
    if (fold.is_paired(r)) co_yield exchange(send(vector, Fold::neighbour(r)));
}

Schedule halving_doubling(const Call& call) {
    Schedule both = halve_and_double(call, Halving::nearest_first);
    co_yield steps_of(both);
}

const AlgorithmInfo halving_doubling_info = {
    .collective = "allreduce",
    .name = "halving_doubling",
    .summary = "reduce-scatter by halving, allgather by doubling: for long vectors on a power of two, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = halving_doubling,
};

}  // namespace rondo::allreduce
