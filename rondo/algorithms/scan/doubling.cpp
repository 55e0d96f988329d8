// SPDX-License-Identifier: BSD-3-Clause
// Doubling inclusive scan (Hillis-Steele, Kogge-Stone; "simultaneous binomial trees" in [sanders2009two]).
// [hillis1986data]. Short vectors: every round sends the whole vector. Rounds and operations: ceil(log2 p).
// Lands in the output.
#include "rondo/algorithms/scan/scan.hpp"

namespace rondo::scan {

Schedule doubling(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block incoming = call.scratch();

    // Before a round with this skip, `partial` spans this rank and the skip-1 before it.
    Block partial = call.input();
    for (Rank skip = 1; skip < p; skip *= 2) {
        co_yield exchange(send(partial, r + skip), receive(incoming, r - skip));
        if (r < skip) continue;
        co_yield combine(incoming, partial).into(call.output());
        partial = call.output();
    }
    if (r == 0) co_yield copy(partial).into(call.output());
}

const AlgorithmInfo doubling_info = {
    .collective = "scan",
    .name = "doubling",
    .summary = "skips 1, 2, 4, ...: ceil(log2 p) rounds and operations",
    .citation = "hillis1986data",
    .tolerates_in_place = true,
    .schedule = doubling,
};

}  // namespace rondo::scan
