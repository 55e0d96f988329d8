// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: in every round pairs of ranks exchange all that they have, which doubles it. Ranks beyond a power
// of two go through a neighbour. [thakur2005optimization]. Short vectors. Rounds: log2 p, or floor(log2 p) + 2; volume
// m (p - 1) / p, or up to twice that.
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo::allgather {

Schedule recursive_doubling(const Call& call) {
    const auto [r, p] = call.ranks();
    const Fold fold = Fold::to_power_of_two(p);
    const Block vector = call.output();
    const Parts parts = call.parts(vector);
    const Rank neighbour = Fold::neighbour(r);

    co_yield copy(call.input()).into(parts[r]);
    if (fold.leaves(r)) {
        co_yield exchange(send(parts[r], neighbour));
        co_yield exchange(receive(vector, neighbour));
        co_return;
    }
    if (fold.is_paired(r)) co_yield exchange(receive(parts[neighbour], neighbour));
    const Halving halving = Halving::farthest_first(fold, r, call.parts(Block(0, vector.count, vector.buffer)));
    Schedule doubling = regather(call, halving, vector);
    co_yield steps_of(doubling);
    if (fold.is_paired(r)) co_yield exchange(send(vector, neighbour));
}

const AlgorithmInfo recursive_doubling_info = {
    .collective = "allgather",
    .name = "recursive_doubling",
    .summary = "pairs exchange all that they have: about log2 p rounds, for short vectors",
    .citation = "thakur2005optimization",
    .tolerates_in_place = true,
    .schedule = recursive_doubling,
};

}  // namespace rondo::allgather
