// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree reduction: the broadcast run backwards. An operator that does not commute is reduced in rank order
// to rank 0, which sends the result to the root. Short vectors: every message is a whole vector. [sanders2009two],
// section 2. Rounds: ceil(log2 p), one more where rank 0 sends it on. Operations: one per round.
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/topology/rotation.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo::reduce {

Schedule binomial(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root, top = call.commutative() ? root : 0;
    const topology::Rotation circle(top, 0, p);
    const Rank place = circle.place_of(r);
    const Block incoming = call.scratch(), sum = r == top && r == root ? call.output() : call.scratch();

    // Before a round with this skip, `partial` spans `skip` places from this one on.
    const Rank own_skip = topology::binomial_skip(place, p);
    Block partial = call.input();
    for (Rank skip = 1; skip < own_skip; skip *= 2) {
        const Rank from = circle.rank_at(place + skip);
        if (from == no_rank) continue;
        co_yield exchange(receive(incoming, from));
        co_yield combine(partial, incoming).into(sum);
        partial = sum;
    }
    if (place > 0) co_yield exchange(send(partial, circle.rank_at(place - own_skip)));

    if (r == top && r != root) co_yield exchange(send(partial, root));
    if (r == root && r != top) co_yield exchange(receive(call.output(), top));
    if (p == 1) co_yield copy(partial).into(call.output());
}

const AlgorithmInfo binomial_info = {
    .collective = "reduce",
    .name = "binomial",
    .summary = "whole vectors along a binomial tree: ceil(log2 p) rounds, for short vectors",
    .citation = "sanders2009two",
    .tolerates_in_place = true,
    .schedule = binomial,
};

}  // namespace rondo::reduce
