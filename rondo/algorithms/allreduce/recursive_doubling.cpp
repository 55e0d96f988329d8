// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: in every round pairs of ranks, at distance 1, 2, 4, ..., exchange their sums, and both add them,
// in rank order. Ranks beyond a power of two go through a neighbour. [rabenseifner2004collective], section 3.4. Short
// vectors, whole in every message. Rounds: ceil(log2 p), one more if p is no power of two; operations: ceil(log2 p).
#include "rondo/algorithms/allreduce/allreduce.hpp"

namespace rondo::allreduce {

Schedule recursive_doubling(const Call& call) { return multiply(call, 2); }

const AlgorithmInfo recursive_doubling_info = {
    .collective = "allreduce",
    .name = "recursive_doubling",
    .summary = "pairs exchange whole sums: about log2 p rounds, for short vectors, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = recursive_doubling,
};

}  // namespace rondo::allreduce
