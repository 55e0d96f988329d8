// SPDX-License-Identifier: BSD-3-Clause
// Ring: a partial sum of every part travels once round, to the rank whose part it is, segment by segment: one is
// combined while the next is on its way. Rounds: p - 1, times the segments of the longest part; volume m (p - 1) / p,
// the least that is possible. [chan2007collective]
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::reduce_scatter {

Schedule ring(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts inputs = call.parts(call.input());
    const Rank right = (r + 1) % p, left = (r + p - 1) % p;
    // On two ranks, later segments of the input are still to be sent when the first ones land.
    const bool lands = can_become(inputs[r], call.output()) && (p > 2 || !overlap(inputs[left], call.output()));
    if (p == 1) co_yield copy(call.input()).into(call.output());

    // In round i, the sum of i + 1 summands of the part of the rank i + 1 to the left goes on to the right.
    Block sum = inputs[left];
    for (Rank round = 1; round < p; ++round) {
        const Rank part = (left + p - round) % p;
        const Block arrived = call.scratch(inputs[part].count), longer = part == r && lands ? call.output() : arrived;
        const Segments outgoing = call.segments(sum), incoming = call.segments(arrived);
        const Segments own = call.segments(inputs[part]), sums = call.segments(longer);
        for (Count i = 0; i < std::max(outgoing.size(), incoming.size()); ++i) {
            co_yield exchange(send(outgoing.at(i), right), receive(incoming.at(i), left));
            if (i < incoming.size()) co_yield combine(incoming[i], own[i]).into(sums[i]);
        }
        sum = longer;
    }
    if (p > 1 && !lands) co_yield copy(sum).into(call.output());
}

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

const AlgorithmInfo ring_info = {
    .collective = "reduce_scatter",
    .name = "ring",
    .summary = "partial sums travel round a ring: for long vectors on few ranks",
    .citation = "chan2007collective",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .has_segments_of_parts = true,
    .schedule = ring,
};

}  // namespace rondo::reduce_scatter
