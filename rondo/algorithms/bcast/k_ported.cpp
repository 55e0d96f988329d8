// SPDX-License-Identifier: BSD-3-Clause
// k-ported: in each round, who has the vector for a range of ranks divides it into k + 1 ranges, and sends the vector
// to the first ranks of all but its own, k messages at a time. Short vectors: every message is the whole vector.
// [traff2020kported], section 2.1. Rounds: ceil(log_{k+1} p). With at_once=1 the messages of all rounds leave a rank
// together, as they do in Open MPI: fewer waits for receivers, but long messages share the link.
#include <vector>

#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/topology/divided_ranges.hpp"

namespace rondo::bcast {

Schedule k_ported(const Call& call) {
    const auto [r, p] = call.ranks();
    const auto ports = static_cast<Rank>(call.setting("ports"));
    const topology::PlaceInRanges place = topology::place_in_ranges(r, call.facts().root, p, ports);
    const bool together = call.setting("at_once") == 1;
    const Block vector = call.output();

    if (r != call.facts().root) co_yield exchange(receive(vector, place.parent));
    std::vector<Transfer> sends;
    for (const auto& round : place.rounds) {
        for (const auto& other : round) sends.push_back(send(vector, other.root));
        if (together) continue;
        co_yield exchange(sends);
        sends.clear();
    }
    if (!sends.empty()) co_yield exchange(sends);
}

namespace {

constexpr Parameter parameters[] = {tree_ports, at_once};

}  // namespace

const AlgorithmInfo k_ported_info = {
    .collective = "bcast",
    .name = "k_ported",
    .summary = "whole vectors to ports ranks at a time: ceil(log_{ports+1} p) rounds, for short vectors",
    .citation = "traff2020kported",
    .parameters = parameters,
    .tolerates_in_place = true,
    .ports = ports_at_once,
    .schedule = k_ported,
};

}  // namespace rondo::bcast
