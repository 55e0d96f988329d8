// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph allreduce: a reduce-scatter and an allgather, both on circulant graphs. Rounds: 2*ceil(log2 p);
// volume 2m (p - 1) / p, the least that is possible, for every p: nothing is folded. [traff2024nonpipelined]
#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::allreduce {

Schedule circulant(const Call& call) {
    const Block mine = call.parts(call.output())[call.ranks().first];
    const Call reducing = call.on(call.input(), mine), gathering = call.on(mine, call.output());
    Schedule reduce_scatter = reduce_scatter::circulant(reducing);
    co_yield steps_of(reduce_scatter);
    Schedule allgather = allgather::circulant(gathering);
    co_yield steps_of(allgather);
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo circulant_info = {
    .collective = "allreduce",
    .name = "circulant",
    .summary = "reduce-scatter and allgather, 2*ceil(log2 p) rounds and the least volume for every p",
    .citation = "traff2024nonpipelined",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::allreduce
