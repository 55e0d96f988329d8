// SPDX-License-Identifier: BSD-3-Clause
// scatter/k_lane moves slots with the short parts: see slots.hpp. [traff2020kported]
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/node_ranges.hpp"
#include "rondo/algorithms/patterns/slots.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"
#include "rondo/algorithms/scatterv/scatterv.hpp"

namespace rondo::scatterv {

Schedule k_lane(const Call& call) { return scattered_in_slots(call, scatter::k_lane); }

namespace {

constexpr Parameter parameters[] = {slot_parameter, node_ports};

}  // namespace

const AlgorithmInfo k_lane_info = {
    .collective = "scatterv",
    .name = "k_lane",
    .summary = "short parts in slots by ranges of nodes, then on nodes, long ones straight to their ranks",
    .citation = "traff2020kported",
    .parameters = parameters,
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = k_lane,
};

}  // namespace rondo::scatterv
