// SPDX-License-Identifier: BSD-3-Clause
// As alltoall/pairwise, of parts that differ: what a rank sends and receives is all that it needs to know.
// [thakur2005optimization]
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoallv {

Schedule pairwise(const Call& call) { return in_rounds(call, 1); }

const AlgorithmInfo pairwise_info = {
    .collective = "alltoallv",
    .name = "pairwise",
    .summary = "with one rank after the other: p-1 rounds, the least volume",
    .citation = "thakur2005optimization",
    .tolerates_in_place = true,
    .schedule = pairwise,
};

}  // namespace rondo::alltoallv
