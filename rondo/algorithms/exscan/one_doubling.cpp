// SPDX-License-Identifier: BSD-3-Clause
// 1-doubling exclusive scan: shift the inputs by one rank, then scan them inclusively. [traff2025exscan], section 2.
// Short vectors. Rounds: 1 + ceil(log2(p-1)); operations: one per round after the first. Member q'=1 of the family.
#include "rondo/algorithms/exscan/exscan.hpp"

namespace rondo::exscan {

Schedule one_doubling(const Call& call) { return doubling(call, 1); }

const AlgorithmInfo one_doubling_info = {
    .collective = "exscan",
    .name = "one_doubling",
    .summary = "shift, then double: 1+ceil(log2(p-1)) rounds, one operation per round",
    .citation = "traff2025exscan",
    .schedule = one_doubling,
};

}  // namespace rondo::exscan
