// SPDX-License-Identifier: BSD-3-Clause
// Linear: the root sends every rank its part. Rounds: p - 1, one message each; every part travels once, the least that
// is possible. Few ranks, or parts so long that a message more takes no time. [chan2007collective]
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {

Schedule linear(const Call& call) { return with_root(call, Direction::send, 1); }

const AlgorithmInfo linear_info = {
    .collective = "scatter",
    .name = "linear",
    .summary = "every part straight to its rank: p-1 messages of the root",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = linear,
};

}  // namespace rondo::scatter
