// SPDX-License-Identifier: BSD-3-Clause
// Linear: every rank sends its part to the root. Rounds: p - 1, one message each; every part travels once, the least
// that is possible. Few ranks, or parts so long that a message more takes no time. [chan2007collective]
#include "rondo/algorithms/gather/gather.hpp"

namespace rondo::gather {

Schedule linear(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    if (r != root) co_yield exchange(send(call.input(), root));
    if (r != root) co_return;
    const Parts parts = call.parts(call.output());
    for (Rank each = 0; each < p; ++each) {
        if (each != root) co_yield exchange(receive(parts[each], each));
        else co_yield copy(call.input()).into(parts[each]);
    }
}

const AlgorithmInfo linear_info = {
    .collective = "gather",
    .name = "linear",
    .summary = "every part straight to the root: p-1 messages there",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = linear,
};

}  // namespace rondo::gather
