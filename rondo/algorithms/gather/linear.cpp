// SPDX-License-Identifier: BSD-3-Clause
// Linear: every rank sends its part to the root. Rounds: p - 1, one message each; every part travels once, the least
// that is possible. Few ranks, or parts so long that a message more takes no time. [chan2007collective]
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::gather {

Schedule linear(const Call& call) { return with_root(call, Direction::receive, 1); }

const AlgorithmInfo linear_info = {
    .collective = "gather",
    .name = "linear",
    .summary = "every part straight to the root: p-1 messages there",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = linear,
};

}  // namespace rondo::gather
