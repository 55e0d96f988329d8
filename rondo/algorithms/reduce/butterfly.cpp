// SPDX-License-Identifier: BSD-3-Clause
// Butterfly reduction: recursive halving between neighbours of distance 1, 2, 4, ..., so that partial sums stay in rank
// order; then the root gathers the parts on the same paths. Ranks beyond a power of two hand their vector to a
// neighbour first. [rabenseifner2004more]. Rounds: 2*floor(log2 p), one more if p is no power of two. Volume: about
// 2*m, up to 3*m then. Operations: m elements, up to 2*m.
#include "rondo/algorithms/patterns/halving.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"

namespace rondo::reduce {

Schedule butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root, neighbour = Fold::neighbour(r);
    const Fold fold = Fold::to_power_of_two(p, root);
    const Block sums = r == root ? call.output() : call.scratch();
    Block partial = call.input();
    if (fold.leaves(r)) {
        co_yield exchange(send(partial, neighbour));
        co_return;
    }
    if (fold.is_paired(r)) {
        const Block arrivals = call.scratch();
        co_yield exchange(receive(arrivals, neighbour));
        if (neighbour < r) co_yield combine(arrivals, partial).into(sums);
        else co_yield combine(partial, arrivals).into(sums);
        partial = sums;
    }

    const Halving halving = Halving::nearest_first(fold, r, call.count());
    Schedule reduce_scatter = halve(call, halving, partial, sums, within(sums, halving.part()));
    co_yield steps_of(reduce_scatter);
    Schedule to_root = collect(call, halving, sums);
    co_yield steps_of(to_root);
}

const AlgorithmInfo butterfly_info = {
    .collective = "reduce",
    .name = "butterfly",
    .summary = "halving between neighbours, then a gather: for medium vectors, in rank order",
    .citation = "rabenseifner2004more",
    .tolerates_in_place = true,
    .schedule = butterfly,
};

}  // namespace rondo::reduce
