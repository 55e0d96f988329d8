// SPDX-License-Identifier: BSD-3-Clause
// k-ported: in each round, who has the vector for a range of ranks divides it into k + 1 ranges, and sends the vector
// to the first ranks of all but its own, k messages at a time. Short vectors: every message is the whole vector.
// [traff2020kported], section 2.1. Rounds: ceil(log_{k+1} p).
#include <vector>

#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/topology/divided_ranges.hpp"

namespace rondo::bcast {

Schedule k_ported(const Call& call) {
    const auto [r, p] = call.ranks();
    const auto ports = static_cast<Rank>(call.setting("ports"));
    const topology::PlaceInRanges place = topology::place_in_ranges(r, call.facts().root, p, ports);
    const Block vector = call.output();

    if (r != call.facts().root) co_yield exchange(receive(vector, place.parent));
    for (const auto& round : place.rounds) {
        std::vector<Transfer> sends;
        sends.reserve(round.size());
        for (const auto& other : round) sends.push_back(send(vector, other.root));
        co_yield exchange(sends);
    }
}

constexpr Parameter parameters[] = {
    {.name = "ports", .summary = "messages that a rank sends at a time", .minimum = 1, .maximum = 32, .standard = 3},
};

const AlgorithmInfo k_ported_info = {
    .collective = "bcast",
    .name = "k_ported",
    .summary = "whole vectors to ports ranks at a time: ceil(log_{ports+1} p) rounds, for short vectors",
    .citation = "traff2020kported",
    .parameters = parameters,
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = k_ported,
};

}  // namespace rondo::bcast
