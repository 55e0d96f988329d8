// SPDX-License-Identifier: BSD-3-Clause
// Two-op doubling exclusive scan: inclusive doubling that keeps the exclusive result beside. [traff2025exscan],
// section 2. Short vectors, cheap operators. Rounds: ceil(log2 p); operations: two per round after the first.
// Member q'=q of the family.
#include <limits>

#include "rondo/algorithms/exscan/exscan.hpp"

namespace rondo::exscan {

Schedule two_op_doubling(const Call& call) { return doubling(call, std::numeric_limits<int>::max()); }

const AlgorithmInfo two_op_doubling_info = {
    .collective = "exscan",
    .name = "two_op_doubling",
    .summary = "inclusive doubling that keeps E and E+V: ceil(log2 p) rounds, two operations per round",
    .citation = "traff2025exscan",
    .schedule = two_op_doubling,
};

}  // namespace rondo::exscan
