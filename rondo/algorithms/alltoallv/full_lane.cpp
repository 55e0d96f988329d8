// SPDX-License-Identifier: BSD-3-Clause
// Short parts in slots by the full-lane all-to-all: first on each lane, then on each node. [traff2020kported], section
// 2.2, and see slots.hpp.
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/slots.hpp"

namespace rondo::alltoallv {

Schedule full_lane(const Call& call) { return exchanged_in_slots(call, alltoall::lanes_then_nodes); }

const AlgorithmInfo full_lane_info = {
    .collective = "alltoallv",
    .name = "full_lane",
    .summary =
        "short parts in slots on lanes, then on nodes, long ones straight to their ranks: for nodes of many ranks",
    .citation = "traff2020kported",
    .parameters = {&slot_parameter, 1},
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = full_lane,
};

}  // namespace rondo::alltoallv
