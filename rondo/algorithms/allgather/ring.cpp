// SPDX-License-Identifier: BSD-3-Clause
// Ring: in every round each rank hands the part on that it has just got, segment by segment. Rounds: p - 1, times the
// segments of the longest part; every part travels once over every link, the least that is possible.
// [chan2007collective]
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::allgather {

Schedule ring(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts parts = call.parts(call.output());
    const Rank right = (r + 1) % p, left = (r + p - 1) % p;

    co_yield copy(call.input()).into(parts[r]);
    for (Rank round = 0; round < p - 1; ++round) {
        // The own part leaves from where it is: nothing waits for the copy.
        const Segments mine = call.segments(round == 0 ? call.input() : parts[(r + p - round) % p]);
        const Segments theirs = call.segments(parts[(left + p - round) % p]);
        for (Count i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
            co_yield exchange(send(mine.at(i), right), receive(theirs.at(i), left));
        }
    }
}

constexpr Requirement requirements[] = {segment_requirement};

const AlgorithmInfo ring_info = {
    .collective = "allgather",
    .name = "ring",
    .summary = "parts travel round a ring: for long vectors on few ranks",
    .citation = "chan2007collective",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .has_segments_of_parts = true,
    .schedule = ring,
};

}  // namespace rondo::allgather
