// SPDX-License-Identifier: BSD-3-Clause
// Cyclic doubling: round-optimal exclusive scan for every p. Each rank's item is the reduction of a window of ranks
// that starts with its own and doubles; a window that would wrap around is replaced by rank 0's, which is a prefix. In
// the end every window that starts at r has become V_0 (+) ... (+) V_{r-1}. [rondo2026cyclic]; answers the open
// question of [traff2025exscan].
// Short vectors. Rounds: ceil(log2 p), the lower bound. Operations: at most one fewer, on every rank.
#include <utility>

#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/topology/cyclic_groups.hpp"

namespace rondo::exscan {

Schedule cyclic_doubling(const Call& call) {
    const auto [r, p] = call.ranks();

    // Items arrive alternately in two blocks; the last one must land in the output, where there is one.
    Block landing = r > 0 ? call.output() : call.scratch(), other = call.scratch();
    for (topology::CyclicPath path(r, p); !path.done(); path.descend()) {
        if (path.from() != no_rank) std::swap(landing, other);
    }

    Block item = call.input();
    for (topology::CyclicPath path(r, p); !path.done(); path.descend()) {
        const bool receives = path.from() != no_rank;
        if (receives) std::swap(landing, other);
        co_yield exchange(send(item, path.to()), receive(landing, path.from()));
        if (receives && !path.replaces()) co_yield combine(item, landing).into(landing);
        if (receives) item = landing;
    }
}

const AlgorithmInfo cyclic_doubling_info = {
    .collective = "exscan",
    .name = "cyclic_doubling",
    .summary = "windows that wrap around: ceil(log2 p) rounds, the fewest possible, and one operation fewer",
    .citation = "rondo2026cyclic",
    .schedule = cyclic_doubling,
};

}  // namespace rondo::exscan
