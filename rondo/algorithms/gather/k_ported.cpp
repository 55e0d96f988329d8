// SPDX-License-Identifier: BSD-3-Clause
// k-ported: the scatter of this name backwards. In each round, the parts of k + 1 ranges of ranks come together at the
// root of one of them, k messages at a time. [traff2020kported], section 2.1. Rounds: ceil(log_{k+1} p); every part
// reaches the root once, the least that is possible.
#include <ranges>
#include <vector>

#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/topology/divided_ranges.hpp"

namespace rondo::gather {

Schedule along_ranges(const Call& call, Rank k) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const topology::PlaceInRanges place = topology::place_in_ranges(r, root, p, k);
    const Parts parts = call.parts(call.output());
    const Block range = parts.range(place.own.first, place.own.last);
    const bool is_leaf = r != root && place.rounds.empty();
    Block held = range;
    if (r != root) held = is_leaf ? call.input() : call.scratch(range.count);
    const auto part_of_held = [&](Rank first, Rank last) {
        const Block part = parts.range(first, last);
        return held.part(part.first - range.first, part.count);
    };

    co_yield copy(call.input()).into(part_of_held(r, r + 1));
    for (const auto& round : std::views::reverse(place.rounds)) {
        std::vector<Transfer> receives;
        receives.reserve(round.size());
        for (const auto& other : round) receives.push_back(receive(part_of_held(other.first, other.last), other.root));
        co_yield exchange(receives);
    }
    if (r != root) co_yield exchange(send(held, place.parent));
}

Schedule k_ported(const Call& call) { return along_ranges(call, static_cast<Rank>(call.setting("ports"))); }

constexpr Parameter parameters[] = {
    {.name = "ports", .summary = "messages that a rank receives at a time", .minimum = 1, .maximum = 32, .standard = 3},
};

const AlgorithmInfo k_ported_info = {
    .collective = "gather",
    .name = "k_ported",
    .summary = "ports+1 ranges of ranks become one: ceil(log_{ports+1} p) rounds",
    .citation = "traff2020kported",
    .parameters = parameters,
    .tolerates_in_place = true,
    .ports = [](std::span<const Setting> settings) { return settings.front().value; },
    .schedule = k_ported,
};

}  // namespace rondo::gather
