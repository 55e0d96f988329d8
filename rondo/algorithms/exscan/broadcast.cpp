// SPDX-License-Identifier: BSD-3-Clause
// Broadcast exclusive scan: every rank sends its vector to all ranks above, the nearest first, and each combines what
// it gets. One latency, but p - 1 messages and up to p - 2 operations for a rank: for a few ranks that come at very
// different times. The whole vector in every message. Lands in the output. [carver_ladder]
#include "rondo/algorithms/exscan/exscan.hpp"

namespace rondo::exscan {

Schedule broadcast(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block own = call.input(), prefix = call.output();
    const Block incoming[] = {call.scratch(), call.scratch()};  // one is combined while the other comes

    for (Rank distance = 1; distance < p; ++distance) {
        const bool is_first = distance == 1;
        const Block from_below = is_first ? prefix : incoming[distance % 2];
        co_yield exchange(send(own, r + distance), receive(from_below, r - distance));
        if (!is_first && r >= distance) co_yield combine(from_below, prefix).into(prefix);
    }
}

const AlgorithmInfo broadcast_info = {
    .collective = "exscan",
    .name = "broadcast",
    .summary = "from every rank to all above: one latency, many messages, for very few ranks",
    .citation = "carver_ladder",
    .schedule = broadcast,
};

}  // namespace rondo::exscan
