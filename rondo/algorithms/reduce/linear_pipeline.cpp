// SPDX-License-Identifier: BSD-3-Clause
// Linear pipeline reduction: segments from rank to rank towards the root, each rank adding its own. If the operator
// commutes, around the circle in one line; otherwise from both ends, and a root in the middle hears two lines. For
// m >> p: time tends to beta*m, or 2*beta*m. [sanders2009two], section 6.2. Rounds: p - 2 + segments in one line.
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::reduce {

Schedule linear_pipeline(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root, end = call.commutative() ? p - 1 : root;
    const topology::Rotation line(root, end, p);
    const Rank place = line.place_of(r);
    // Places before the end send upwards, those behind it downwards.
    const Rank from_below = place <= end ? line.rank_at(place - 1) : no_rank;
    const Rank from_above = place >= end ? line.rank_at(place + 1) : no_rank;
    const Rank to = place == end ? no_rank : line.rank_at(place < end ? place + 1 : place - 1);

    const Segments own = call.segments(call.input()), results = call.segments(call.output());
    const SegmentRing below(call, own), above(call, own), sums(call, own);
    Block ready;
    for (Count i = 0; i < own.size(); ++i) {
        const Block lower = below.slot(i, own[i]), upper = above.slot(i, own[i]);
        const Block sum = place == end ? results[i] : sums.slot(i, own[i]);
        // A segment is sent on in the exchange that receives the next one.
        const bool is_start = from_below == no_rank && from_above == no_rank;
        if (!is_start)
            co_yield exchange(send(ready, to), receive(from_below != no_rank ? lower : upper,
                                                       from_below != no_rank ? from_below : from_above));
        Block partial = own[i];
        if (from_below != no_rank) {
            co_yield combine(lower, partial).into(sum);
            partial = sum;
            if (from_above != no_rank) co_yield exchange(receive(upper, from_above));
        }
        if (from_above != no_rank) {
            co_yield combine(partial, upper).into(sum);
            partial = sum;
        }
        ready = partial;
        if (is_start) co_yield exchange(send(ready, to));
        if (p == 1) co_yield copy(own[i]).into(sum);
    }
    const bool waits = from_below != no_rank || from_above != no_rank;
    if (waits) co_yield exchange(send(ready, to));
}

const AlgorithmInfo linear_pipeline_info = {
    .collective = "reduce",
    .name = "linear_pipeline",
    .summary = "segments from rank to rank: full bandwidth for vectors much longer than p",
    .citation = "sanders2009two",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = linear_pipeline,
};

}  // namespace rondo::reduce
