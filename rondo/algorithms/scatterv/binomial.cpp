// SPDX-License-Identifier: BSD-3-Clause
// scatter/binomial moves slots with the short parts: see slots.hpp. [chan2007collective]
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/patterns/slots.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"
#include "rondo/algorithms/scatterv/scatterv.hpp"

namespace rondo::scatterv {

Schedule binomial(const Call& call) { return scattered_in_slots(call, scatter::binomial); }

const AlgorithmInfo binomial_info = {
    .collective = "scatterv",
    .name = "binomial",
    .summary = "short parts in slots that halve in every round, long ones straight to their ranks",
    .citation = "chan2007collective",
    .parameters = {&slot_parameter, 1},
    .requirements = {&slots_requirement, 1},
    .tolerates_in_place = true,
    .slot = longest_in_slot,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = binomial,
};

}  // namespace rondo::scatterv
