// SPDX-License-Identifier: BSD-3-Clause
// Ring: a reduce-scatter and an allgather, both round the ring, segment by segment. Rounds: 2(p - 1), times the
// segments of a part; volume 2m (p - 1) / p, the least that is possible. [chan2007collective]
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::allreduce {

Schedule ring(const Call& call) {
    const Block mine = call.parts(call.output())[call.ranks().first];
    const Call reducing = call.on(call.input(), mine), gathering = call.on(mine, call.output());
    Schedule reduce_scatter = reduce_scatter::ring(reducing);
    co_yield steps_of(reduce_scatter);
    Schedule allgather = allgather::ring(gathering);
    co_yield steps_of(allgather);
}

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

const AlgorithmInfo ring_info = {
    .collective = "allreduce",
    .name = "ring",
    .summary = "reduce-scatter and allgather round a ring: for long vectors on few ranks",
    .citation = "chan2007collective",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .has_segments_of_parts = true,
    .schedule = ring,
};

}  // namespace rondo::allreduce
