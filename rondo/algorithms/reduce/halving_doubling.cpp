// SPDX-License-Identifier: BSD-3-Clause
// Halving and doubling: a reduce-scatter by vector halving and distance doubling, then the root gathers the parts along
// a binomial tree. Ranks beyond a power of two are eliminated in pairs, each rank of which reduces half the vector; the
// root stays. In rank order. [rabenseifner2004collective], section 3.5. Long vectors. Rounds: 2 log2 p, or 2 more than
// 2 floor(log2 p); volume: about 2 m, up to 3 m; operations: m (p - 1) / p, or up to 1.5 m. The butterfly needs a round
// less on other numbers than powers of two, but operations on m elements more there.
#include "rondo/algorithms/patterns/halving.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"

namespace rondo::reduce {

Schedule halve_and_gather(const Call& call, HalvingOf halving_of) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const Fold fold = Fold::to_power_of_two(p, root);
    const Block work = r == root ? call.output() : call.scratch();
    Block partial = call.input();
    if (fold.is_paired(r)) {
        Schedule elimination = eliminate(call, fold, work);
        co_yield steps_of(elimination);
        partial = work;
    }
    if (fold.leaves(r)) co_return;

    const Halving halving = halving_of(fold, r, call.count());
    Schedule reduce_scatter = halve(call, halving, partial, work, within(work, halving.part()));
    co_yield steps_of(reduce_scatter);
    Schedule to_root = collect(call, halving, work);
    co_yield steps_of(to_root);
}

Schedule halving_doubling(const Call& call) {
    Schedule both = halve_and_gather(call, Halving::nearest_first);
    co_yield steps_of(both);
}

const AlgorithmInfo halving_doubling_info = {
    .collective = "reduce",
    .name = "halving_doubling",
    .summary = "reduce-scatter by halving, then a gather: for long vectors, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = halving_doubling,
};

}  // namespace rondo::reduce
