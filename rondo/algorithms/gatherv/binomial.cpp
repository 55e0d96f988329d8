// SPDX-License-Identifier: BSD-3-Clause
// gather/binomial moves slots with the short parts: see slots.hpp. [chan2007collective]
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/gatherv/gatherv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/slots.hpp"

namespace rondo::gatherv {

Schedule binomial(const Call& call) { return gathered_in_slots(call, gather::binomial); }

const AlgorithmInfo binomial_info = {
    .collective = "gatherv",
    .name = "binomial",
    .summary = "short parts in slots that double in every round, long ones straight to the root",
    .citation = "chan2007collective",
    .parameters = {&slot_parameter, 1},
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = binomial,
};

}  // namespace rondo::gatherv
