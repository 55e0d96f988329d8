// SPDX-License-Identifier: BSD-3-Clause
// 123-doubling exclusive scan: skips 1, 2, 3, 6, 12, ... [traff2025exscan], Algorithm 1. Short vectors.
// Rounds: ceil(log2(p-1) + log2(4/3)); operations: one per round after the first, one more on ranks that also send
// in the second round. Member q'=2 of the family.
#include "rondo/algorithms/exscan/exscan.hpp"

namespace rondo::exscan {

Schedule doubling_123(const Call& call) { return doubling(call, 2); }

const AlgorithmInfo doubling_123_info = {
    .collective = "exscan",
    .name = "doubling_123",
    .summary = "skips 1, 2, 3, 6, 12, ...: ceil(log2(p-1)+log2(4/3)) rounds, one operation per round",
    .citation = "traff2025exscan",
    .schedule = doubling_123,
};

}  // namespace rondo::exscan
