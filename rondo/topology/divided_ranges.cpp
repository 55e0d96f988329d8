// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/divided_ranges.hpp"

#include <algorithm>
#include <utility>

namespace rondo::topology {
namespace {

std::vector<RankRange> divided(const RankRange& range, Rank k) {
    const Parts parts(Block(range.first, range.size(), Buffer::scratch), std::min(k, range.size() - 1) + 1);
    std::vector<RankRange> ranges;
    for (Count i = 0; i < parts.size(); ++i) {
        RankRange part{static_cast<Rank>(parts[i].first), static_cast<Rank>(parts[i].last()), 0};
        part.root = part.holds(range.root) ? range.root : part.first;
        ranges.push_back(part);
    }
    return ranges;
}

}  // namespace

PlaceInRanges place_in_ranges(Rank rank, Rank root, Rank size, Rank k) {
    RankRange range{0, size, root};
    PlaceInRanges place{.parent = no_rank, .own = range, .rounds = {}};
    while (range.size() > 1) {
        const Rank last_root = range.root;
        std::vector<RankRange> parts = divided(range, k);
        const auto own = std::ranges::find_if(parts, [rank](const RankRange& part) { return part.holds(rank); });
        range = *own;
        parts.erase(own);
        if (last_root == rank) place.rounds.push_back(std::move(parts));
        else if (range.root == rank) place = {.parent = last_root, .own = range, .rounds = {}};
    }
    return place;
}

}  // namespace rondo::topology
