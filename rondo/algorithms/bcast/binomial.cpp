// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree broadcast: in every round, all that have the vector send it to one that has not. Short vectors: every
// message is the whole vector. [sanders2009two], section 2. Rounds: ceil(log2 p).
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/topology/rotation.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo::bcast {

Schedule binomial(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const Block vector = call.output();

    // `place` hears from the place without its lowest bit, then speaks to those with one more bit below that.
    const Rank own_skip = topology::binomial_skip(place, p);
    if (place > 0) co_yield exchange(receive(vector, circle.rank_at(place - own_skip)));
    for (Rank skip = own_skip / 2; skip > 0; skip /= 2) {
        co_yield exchange(send(vector, circle.rank_at(place + skip)));
    }
}

const AlgorithmInfo binomial_info = {
    .collective = "bcast",
    .name = "binomial",
    .summary = "whole vectors along a binomial tree: ceil(log2 p) rounds, for short vectors",
    .citation = "sanders2009two",
    .tolerates_in_place = true,
    .schedule = binomial,
};

}  // namespace rondo::bcast
