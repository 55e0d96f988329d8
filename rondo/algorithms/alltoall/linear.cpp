// SPDX-License-Identifier: BSD-3-Clause
// Linear: with all ranks at once, as far as that does not flood the library: up to 64 messages at a time. Every rank
// begins with the rank behind it, so that they do not all send to the same. Volume m (p - 1) / p, the least that is
// possible. [traff2020kported], section 2.1.
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoall {

Schedule linear(const Call& call) { return in_rounds(call, most_at_once); }

const AlgorithmInfo linear_info = {
    .collective = "alltoall",
    .name = "linear",
    .summary = "with all ranks at once: up to 64 messages at a time, the least volume",
    .citation = "traff2020kported",
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> /*settings*/) { return most_at_once; },
    .schedule = linear,
};

}  // namespace rondo::alltoall
