// SPDX-License-Identifier: BSD-3-Clause
// Ring: a partial sum of every part travels once round, to the rank whose part it is. Rounds: p - 1; volume
// m (p - 1) / p, the least that is possible. [chan2007collective]
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce_scatter {

Schedule ring(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts inputs = call.parts(call.input());
    const Rank right = (r + 1) % p, left = (r + p - 1) % p;
    if (p == 1) co_yield copy(call.input()).into(call.output());

    // In round i, the sum of i + 1 summands of the part of the rank i + 1 to the left goes on to the right.
    Block sum = inputs[left];
    for (Rank round = 1; round < p; ++round) {
        const Rank part = (left + p - round) % p;
        const Block arrived = call.scratch(inputs[part].count);
        co_yield exchange(send(sum, right), receive(arrived, left));
        // In place, the output may overlap the input.
        sum = part == r && !call.in_place() ? call.output() : arrived;
        co_yield combine(arrived, inputs[part]).into(sum);
    }
    if (call.in_place()) co_yield copy(sum).into(call.output());
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo ring_info = {
    .collective = "reduce_scatter",
    .name = "ring",
    .summary = "partial sums travel round a ring: for long vectors on few ranks",
    .citation = "chan2007collective",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = ring,
};

}  // namespace rondo::reduce_scatter
