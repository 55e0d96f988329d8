// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: every range of ranks falls into two in each round, and the parts of one go to its first rank: as
// k-ported, with one port, so that the parts of a range are one block for every root. Rounds: ceil(log2 p); every part
// leaves the root once, the least that is possible. [chan2007collective]
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {

Schedule binomial(const Call& call) { return along_ranges(call, 1); }

const AlgorithmInfo binomial_info = {
    .collective = "scatter",
    .name = "binomial",
    .summary = "the parts halve in every round: ceil(log2 p) rounds, for short parts",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = binomial,
};

}  // namespace rondo::scatter
