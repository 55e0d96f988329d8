// SPDX-License-Identifier: BSD-3-Clause
// As alltoall/linear, of parts that differ: what a rank sends and receives is all that it needs to know.
// [traff2020kported]
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoallv {

Schedule linear(const Call& call) { return in_rounds(call, most_at_once); }

const AlgorithmInfo linear_info = {
    .collective = "alltoallv",
    .name = "linear",
    .summary = "with all ranks at once: up to 64 messages at a time, the least volume",
    .citation = "traff2020kported",
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = linear,
};

}  // namespace rondo::alltoallv
