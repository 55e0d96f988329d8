// SPDX-License-Identifier: BSD-3-Clause
// Linear pipeline inclusive scan: every segment travels from rank to rank, each of which appends its own input, keeps
// the result and sends it on. For m >> p: time tends to beta*m. [sanders2009two], section 1.
// Rounds: p - 2 + segments; operations: one per segment. Lands in the output.
#include "rondo/algorithms/scan/scan.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::scan {

Schedule linear_pipeline(const Call& call) {
    const Rank r = call.ranks().first;
    const Segments own = call.segments(call.input()), prefix = call.segments(call.output());
    const SegmentRing ring(call, own);

    // A segment is sent on in the exchange that receives the next one.
    Block ready;
    for (Count i = 0; i < own.size(); ++i) {
        const Block incoming = ring.slot(i, own[i]);
        if (r == 0) {
            co_yield exchange(send(own[i], r + 1));
            co_yield copy(own[i]).into(prefix[i]);
            continue;
        }
        co_yield exchange(send(ready, r + 1), receive(incoming, r - 1));
        co_yield combine(incoming, own[i]).into(prefix[i]);
        ready = prefix[i];
    }
    co_yield exchange(send(ready, r + 1));
}

const AlgorithmInfo linear_pipeline_info = {
    .collective = "scan",
    .name = "linear_pipeline",
    .summary = "segments from rank to rank: full bandwidth for vectors much longer than p",
    .citation = "sanders2009two",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = linear_pipeline,
};

}  // namespace rondo::scan
