// SPDX-License-Identifier: BSD-3-Clause
// Bruck's allgather: as on circulant graphs, but the skips are powers of two, and what is missing comes in the last
// round. Rounds: ceil(log2 p); each part is received once. Where the result has to be rotated, only the range of parts
// is that goes past the end of the vector. [bruck1997efficient]
#include <vector>

#include "rondo/algorithms/allgather/allgather.hpp"

namespace rondo::allgather {

Schedule bruck(const Call& call) {
    const Rank p = call.ranks().second;
    std::vector<Rank> skips;
    for (std::int64_t skip = 1; skip < p; skip *= 2) skips.push_back(static_cast<Rank>(skip));
    skips.push_back(p);
    Schedule rounds = along_skips(call, skips);
    co_yield steps_of(rounds);
}

const AlgorithmInfo bruck_info = {
    .collective = "allgather",
    .name = "bruck",
    .summary = "the parts double in every round: ceil(log2 p) rounds, the last one shorter",
    .citation = "bruck1997efficient",
    .tolerates_in_place = true,
    .schedule = bruck,
};

}  // namespace rondo::allgather
