// SPDX-License-Identifier: BSD-3-Clause
// Ring: a reduce-scatter round the ring, segment by segment, then every rank sends its part straight to the root.
// [rabenseifner2004collective], section 3.7, with the ring of [chan2007collective] in the place of pairwise exchange.
// Long vectors on few ranks. Rounds: p - 1, times the segments of a part, and p - 1; volume: at most m; operations:
// m (p - 1) / p.
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::reduce {

Schedule ring(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const Parts parts = call.parts(call.output());
    const Block mine = r == root ? parts[r] : call.scratch(parts[r].count);
    const Call scattering = call.on(call.input(), mine);
    Schedule reduce_scatter = reduce_scatter::ring(scattering);
    co_yield steps_of(reduce_scatter);

    if (r != root) co_yield exchange(send(mine, root));
    for (Rank i = 1; i < p && r == root; ++i) {
        const Rank from = (root + i) % p;
        co_yield exchange(receive(parts[from], from));
    }
}

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

const AlgorithmInfo ring_info = {
    .collective = "reduce",
    .name = "ring",
    .summary = "reduce-scatter round a ring, then a gather: for long vectors on few ranks",
    .citation = "rabenseifner2004collective",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .has_segments_of_parts = true,
    .schedule = ring,
};

}  // namespace rondo::reduce
