// SPDX-License-Identifier: BSD-3-Clause
// Linear: the root sends every rank its part. Rounds: p - 1, one message each; every part travels once, the least that
// is possible. Few ranks, or parts so long that a message more takes no time. [chan2007collective]
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {

Schedule linear(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    if (r != root) co_yield exchange(receive(call.output(), root));
    if (r != root) co_return;
    const Parts parts = call.parts(call.input());
    for (Rank each = 0; each < p; ++each) {
        if (each != root) co_yield exchange(send(parts[each], each));
        else co_yield copy(parts[each]).into(call.output());
    }
}

const AlgorithmInfo linear_info = {
    .collective = "scatter",
    .name = "linear",
    .summary = "every part straight to its rank: p-1 messages of the root",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = linear,
};

}  // namespace rondo::scatter
