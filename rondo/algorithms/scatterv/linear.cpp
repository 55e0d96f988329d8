// SPDX-License-Identifier: BSD-3-Clause
// As scatter/linear, of parts that differ: what the root sends, and a rank receives, is all that it needs to know. The
// root has messages to several ranks under way: long ones wait for their receivers. [chan2007collective]
#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/algorithms/scatterv/scatterv.hpp"

namespace rondo::scatterv {

Schedule linear(const Call& call) { return with_root(call, Direction::send, call.setting("ports")); }

const AlgorithmInfo linear_info = {
    .collective = "scatterv",
    .name = "linear",
    .summary = "every part straight to its rank, those of a few ranks at a time",
    .citation = "chan2007collective",
    .parameters = {&root_ports, 1},
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = linear,
};

}  // namespace rondo::scatterv
