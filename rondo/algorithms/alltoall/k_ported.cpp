// SPDX-License-Identifier: BSD-3-Clause
// k-ported: in round i every rank sends to the i-th `ports` ranks behind it, and receives from as many before it.
// Rounds: ceil((p - 1) / ports); volume m (p - 1) / p, the least that is possible. [traff2020kported], section 2.1.
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoall {

Schedule k_ported(const Call& call) { return in_rounds(call, call.setting("ports")); }

const AlgorithmInfo k_ported_info = {
    .collective = "alltoall",
    .name = "k_ported",
    .summary = "with a few ranks at a time: ceil((p-1)/ports) rounds, the least volume",
    .citation = "traff2020kported",
    .parameters = {&ports_parameter, 1},
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = k_ported,
};

}  // namespace rondo::alltoall
