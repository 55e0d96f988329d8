// SPDX-License-Identifier: BSD-3-Clause
// gather/k_lane moves slots with the short parts: see slots.hpp. [traff2020kported]
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/gatherv/gatherv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/node_ranges.hpp"
#include "rondo/algorithms/patterns/slots.hpp"

namespace rondo::gatherv {

Schedule k_lane(const Call& call) { return gathered_in_slots(call, gather::k_lane); }

namespace {

constexpr Parameter parameters[] = {slot_parameter, receiving_node_ports};

}  // namespace

const AlgorithmInfo k_lane_info = {
    .collective = "gatherv",
    .name = "k_lane",
    .summary = "short parts in slots to one rank of each node, then by ranges of nodes, long ones straight to the root",
    .citation = "traff2020kported",
    .parameters = parameters,
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = k_lane,
};

}  // namespace rondo::gatherv
