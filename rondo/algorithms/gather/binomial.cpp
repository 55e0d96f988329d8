// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: two ranges of ranks become one in each round, and the parts of one come to the root of the other: as
// k-ported, with one port, so that the parts of a range are one block for every root. Rounds: ceil(log2 p); every part
// reaches the root once, the least that is possible. [chan2007collective]
#include "rondo/algorithms/gather/gather.hpp"

namespace rondo::gather {

Schedule binomial(const Call& call) { return along_ranges(call, 1); }

const AlgorithmInfo binomial_info = {
    .collective = "gather",
    .name = "binomial",
    .summary = "the parts double in every round: ceil(log2 p) rounds, for short parts",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = binomial,
};

}  // namespace rondo::gather
