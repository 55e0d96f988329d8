// SPDX-License-Identifier: BSD-3-Clause
// Ring: in every round each rank hands the part on that it has just got. Rounds: p - 1; every part travels once over
// every link, the least that is possible. [chan2007collective]
#include "rondo/algorithms/allgather/allgather.hpp"

namespace rondo::allgather {

Schedule ring(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts parts = call.parts(call.output());
    const Rank right = (r + 1) % p, left = (r + p - 1) % p;

    co_yield copy(call.input()).into(parts[r]);
    for (Rank round = 0; round < p - 1; ++round) {
        const Rank mine = (r + p - round) % p, theirs = (left + p - round) % p;
        co_yield exchange(send(parts[mine], right), receive(parts[theirs], left));
    }
}

const AlgorithmInfo ring_info = {
    .collective = "allgather",
    .name = "ring",
    .summary = "parts travel round a ring: for long vectors on few ranks",
    .citation = "chan2007collective",
    .tolerates_in_place = true,
    .schedule = ring,
};

}  // namespace rondo::allgather
