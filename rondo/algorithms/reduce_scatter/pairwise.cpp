// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: in round i every rank sends the part of the rank i behind it straight there. What a rank gets comes from
// r-1, ..., 0, p-1, ..., r+1: put before the own input, and before each other, the operands are in rank order. Rounds,
// operations: p - 1; volume m (p - 1) / p, the least that is possible. [thakur2005optimization]
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"

namespace rondo::reduce_scatter {

Schedule pairwise(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts inputs = call.parts(call.input());
    const Count count = inputs[r].count;
    // In place, the output overlaps parts that are still to be sent.
    const Block result = call.in_place() ? call.scratch(count) : call.output();
    const Block above = call.scratch(count);  // from the ranks behind this one
    constexpr Rank most_arrivals = 8;         // received ahead of their combination
    const Rank slots = std::min(most_arrivals, p);
    const Block arrivals = call.scratch(slots * count);

    Block below = inputs[r];
    for (Rank round = 1; round < p; ++round) {
        const Rank to = (r + round) % p, from = (r - round + p) % p;
        const bool is_first_above = from == p - 1;
        const Block arrival = is_first_above ? above : arrivals.part(round % slots * count, count);
        co_yield exchange(send(inputs[to], to), receive(arrival, from));
        if (from > r && !is_first_above) co_yield combine(arrival, above).into(above);
        if (from > r) continue;
        co_yield combine(arrival, below).into(result);
        below = result;
    }
    if (r + 1 < p) co_yield combine(below, above).into(result);
    else if (p == 1) co_yield copy(below).into(result);
    if (call.in_place()) co_yield copy(result).into(call.output());
}

const AlgorithmInfo pairwise_info = {
    .collective = "reduce_scatter",
    .name = "pairwise",
    .summary = "every part straight to its rank: p-1 rounds, in rank order",
    .citation = "thakur2005optimization",
    .tolerates_in_place = true,
    .schedule = pairwise,
};

}  // namespace rondo::reduce_scatter
