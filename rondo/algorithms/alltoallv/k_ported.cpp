// SPDX-License-Identifier: BSD-3-Clause
// As alltoall/k_ported, of parts that differ: what a rank sends and receives is all that it needs to know.
// [traff2020kported]
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoallv {

Schedule k_ported(const Call& call) { return in_rounds(call, call.setting("ports")); }

const AlgorithmInfo k_ported_info = {
    .collective = "alltoallv",
    .name = "k_ported",
    .summary = "with a few ranks at a time: ceil((p-1)/ports) rounds, the least volume",
    .citation = "traff2020kported",
    .parameters = {&ports_parameter, 1},
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = k_ported,
};

}  // namespace rondo::alltoallv
