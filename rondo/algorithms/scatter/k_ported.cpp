// SPDX-License-Identifier: BSD-3-Clause
// k-ported: in each round, who has the parts of a range of ranks divides it into k + 1 ranges, and sends the parts of
// all but its own to the first ranks of these, k messages at a time. [traff2020kported], section 2.1. Rounds:
// ceil(log_{k+1} p); every part leaves the root once, the least that is possible.
#include <vector>

#include "rondo/algorithms/scatter/scatter.hpp"
#include "rondo/topology/divided_ranges.hpp"

namespace rondo::scatter {

Schedule along_ranges(const Call& call, Rank k) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const topology::PlaceInRanges place = topology::place_in_ranges(r, root, p, k);
    const Parts parts = call.parts(call.input());
    const Block range = parts.range(place.own.first, place.own.last);
    const bool is_leaf = r != root && place.rounds.empty();
    Block held = range;
    if (r != root) held = is_leaf ? call.output() : call.scratch(range.count);
    const auto part_of_held = [&](Rank first, Rank last) {
        const Block part = parts.range(first, last);
        return held.part(part.first - range.first, part.count);
    };

    if (r != root) co_yield exchange(receive(held, place.parent));
    for (const auto& round : place.rounds) {
        std::vector<Transfer> sends;
        sends.reserve(round.size());
        for (const auto& other : round) sends.push_back(send(part_of_held(other.first, other.last), other.root));
        co_yield exchange(sends);
    }
    co_yield copy(part_of_held(r, r + 1)).into(call.output());
}

Schedule k_ported(const Call& call) { return along_ranges(call, static_cast<Rank>(call.setting("ports"))); }

constexpr Parameter parameters[] = {
    {.name = "ports", .summary = "messages that a rank sends at a time", .minimum = 1, .maximum = 32, .standard = 3},
};

const AlgorithmInfo k_ported_info = {
    .collective = "scatter",
    .name = "k_ported",
    .summary = "ports+1 ranges of every range of ranks: ceil(log_{ports+1} p) rounds",
    .citation = "traff2020kported",
    .parameters = parameters,
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = k_ported,
};

}  // namespace rondo::scatter
