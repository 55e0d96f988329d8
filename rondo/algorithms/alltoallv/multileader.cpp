// SPDX-License-Identifier: BSD-3-Clause
// alltoall/multileader moves slots with the short parts: see slots.hpp. [kinkead2025scaling]
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/slots.hpp"

namespace rondo::alltoallv {

Schedule multileader(const Call& call) { return exchanged_in_slots(call, alltoall::multileader); }

namespace {

constexpr Parameter parameters[] = {slot_parameter, alltoall::leaders_parameter, alltoall::leaders_exchange,
                                    alltoall::radix_parameter};

}  // namespace

const AlgorithmInfo multileader_info = {
    .collective = "alltoallv",
    .name = "multileader",
    .summary = "short parts in slots by way of a few ranks of each node, long ones straight to their ranks",
    .citation = "kinkead2025scaling",
    .parameters = parameters,
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .slot = longest_in_slot,
    .is_proposed = false,  // a few ranks copy the data of many
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = multileader,
};

}  // namespace rondo::alltoallv
