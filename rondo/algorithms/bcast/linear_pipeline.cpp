// SPDX-License-Identifier: BSD-3-Clause
// Linear pipeline broadcast: segments from rank to rank around the circle, beginning at the root. For m >> p: time
// tends to beta*m. [sanders2009two], section 2. Rounds: p - 2 + segments.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

Schedule linear_pipeline(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::Rotation line(call.facts().root, 0, p);
    const Rank place = line.place_of(r), before = line.rank_at(place - 1), after = line.rank_at(place + 1);
    const Segments segments = call.segments(call.output());

    // A segment is sent on in the exchange that receives the next one; the root has nothing to wait for.
    const Count lag = place > 0 ? 1 : 0;
    for (Count i = 0; i < segments.size() + lag; ++i) {
        co_yield exchange(send(segments.at(i - lag), after), receive(segments.at(i), before));
    }
}

const AlgorithmInfo linear_pipeline_info = {
    .collective = "bcast",
    .name = "linear_pipeline",
    .summary = "segments from rank to rank: full bandwidth for vectors much longer than p",
    .citation = "sanders2009two",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = linear_pipeline,
};

}  // namespace rondo::bcast
