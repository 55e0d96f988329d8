// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: in every round pairs of ranks, first the distant ones, exchange half of what they have, each
// reducing the half that its own part is in. Ranks beyond a power of two go through a neighbour, whole.
// [thakur2005optimization]. Medium vectors. Rounds: log2 p, or floor(log2 p) + 2; volume and operations m (p - 1) / p,
// or up to twice that.
#include "rondo/algorithms/patterns/halving.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce_scatter {

Schedule recursive_halving(const Call& call) {
    const auto [r, p] = call.ranks();
    const Fold fold = Fold::to_power_of_two(p);
    const Rank neighbour = Fold::neighbour(r);
    if (fold.leaves(r)) {
        co_yield exchange(send(call.input(), neighbour));
        co_yield exchange(receive(call.output(), neighbour));
        co_return;
    }

    const Block work = call.scratch();
    const Parts sums = call.parts(work);
    Block partial = call.input();
    if (fold.is_paired(r)) {
        co_yield exchange(receive(work, neighbour));
        co_yield combine(partial, work).into(work);
        partial = work;
    }
    const Halving halving = Halving::farthest_first(fold, r, call.parts(Block(0, work.count, Buffer::scratch)));
    // In place, the output may overlap what is still to be combined.
    const bool is_direct = !fold.is_paired(r) && !call.in_place();
    Schedule steps = halve(call, halving, partial, work, is_direct ? call.output() : within(work, halving.part()));
    co_yield steps_of(steps);
    if (fold.is_paired(r)) co_yield exchange(send(sums[neighbour], neighbour));
    if (!is_direct) co_yield copy(sums[r]).into(call.output());
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo recursive_halving_info = {
    .collective = "reduce_scatter",
    .name = "recursive_halving",
    .summary = "pairs exchange half of what they have: about log2 p rounds, for medium vectors",
    .citation = "thakur2005optimization",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = recursive_halving,
};

}  // namespace rondo::reduce_scatter
