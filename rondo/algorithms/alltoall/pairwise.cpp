// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: in round i every rank sends to the rank i behind it, and receives from the rank i before it. Rounds: p - 1;
// volume m (p - 1) / p, the least that is possible. [thakur2005optimization], section 4.3.
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoall {

Schedule pairwise(const Call& call) { return in_rounds(call, 1); }

const AlgorithmInfo pairwise_info = {
    .collective = "alltoall",
    .name = "pairwise",
    .summary = "with one rank after the other: p-1 rounds, the least volume",
    .citation = "thakur2005optimization",
    .tolerates_in_place = true,
    .schedule = pairwise,
};

}  // namespace rondo::alltoall
