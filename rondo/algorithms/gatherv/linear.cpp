// SPDX-License-Identifier: BSD-3-Clause
// As gather/linear, of parts that differ: what a rank sends, and the root receives, is all that it needs to know. The
// root has receives from several ranks under way: long messages wait for that, and would cross the network one after
// the other if they were awaited in turn. [chan2007collective]
#include "rondo/algorithms/gatherv/gatherv.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::gatherv {

Schedule linear(const Call& call) { return with_root(call, Direction::receive, call.setting("ports")); }

const AlgorithmInfo linear_info = {
    .collective = "gatherv",
    .name = "linear",
    .summary = "every part straight to the root, which awaits those of a few ranks at a time",
    .citation = "chan2007collective",
    .parameters = {&root_ports, 1},
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = linear,
};

}  // namespace rondo::gatherv
