// SPDX-License-Identifier: BSD-3-Clause
// Short parts in slots by Bruck's all-to-all: ceil(log_radix p) rounds. [bruck1997efficient], and see slots.hpp.
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/slots.hpp"

namespace rondo::alltoallv {

Schedule bruck(const Call& call) { return exchanged_in_slots(call, alltoall::bruck); }

namespace {

constexpr Parameter parameters[] = {slot_parameter, alltoall::radix_parameter};

}  // namespace

const AlgorithmInfo bruck_info = {
    .collective = "alltoallv",
    .name = "bruck",
    .summary = "short parts in slots that travel by the digits of their distance, long ones straight to their ranks",
    .citation = "bruck1997efficient",
    .parameters = parameters,
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = bruck,
};

}  // namespace rondo::alltoallv
