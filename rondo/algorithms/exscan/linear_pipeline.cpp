// SPDX-License-Identifier: BSD-3-Clause
// Linear pipeline exclusive scan: every segment travels from rank to rank, each of which takes it as its result and
// sends it on with its own input appended. For m >> p: time tends to beta*m. [sanders2009two], section 1.
// Rounds: p - 2 + segments; operations: one per segment. Lands in the output.
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::exscan {

Schedule linear_pipeline(const Call& call) {
    const auto [r, p] = call.ranks();
    const Segments own = call.segments(call.input()), prefix = call.segments(call.output());
    const SegmentRing ring(call, own), kept(call, own);

    // A segment is sent on in the exchange that receives the next one.
    Block ready;
    for (Count i = 0; i < own.size(); ++i) {
        if (r == 0) {
            co_yield exchange(send(own[i], r + 1));
            continue;
        }
        // In place, the prefix arrives where the own segment stands.
        const bool sends = r + 1 < p;
        const Block mine = sends && call.in_place() ? kept.slot(i, own[i]) : own[i];
        co_yield copy(own[i]).into(mine);
        co_yield exchange(send(ready, r + 1), receive(prefix[i], r - 1));
        if (!sends) continue;
        ready = ring.slot(i, own[i]);
        co_yield combine(prefix[i], mine).into(ready);
    }
    co_yield exchange(send(ready, r + 1));
}

const AlgorithmInfo linear_pipeline_info = {
    .collective = "exscan",
    .name = "linear_pipeline",
    .summary = "segments from rank to rank: full bandwidth for vectors much longer than p",
    .citation = "sanders2009two",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = linear_pipeline,
};

}  // namespace rondo::exscan
