// SPDX-License-Identifier: BSD-3-Clause
// What rules choose where: areas of ranks and bytes, found by asking at their corners.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "rondo/selection/conditions.hpp"
#include "rondo/selection/rules.hpp"

namespace rondo {
namespace {

bool same_choice(const Choice* a, const Choice* b) {
    return to_string(a == nullptr ? Choice() : *a) == to_string(b == nullptr ? Choice() : *b);
}

/// Adds the next region, or lengthens the last one.
void join(std::vector<Rules::Region>& regions, Rules::Region next) {
    if (regions.empty() || !same_choice(regions.back().choice, next.choice)) {
        regions.push_back(std::move(next));
        return;
    }
    Rules::Region& last = regions.back();
    last.bytes.highest = next.bytes.highest;
    last.lines.insert(last.lines.end(), next.lines.begin(), next.lines.end());
}

}  // namespace

std::vector<Rules::Row> Rules::regions(const Situation& situation, Rank ranks_per_node) const {
    // Between these numbers of full nodes nothing changes.
    const Count each = ranks_per_node;
    const Count first = (2 + each - 1) / each, end = std::numeric_limits<Rank>::max() / each + 1;
    std::set<Count> starts = {first};
    for (const Rule& rule : rules_of(situation.collective)) {
        const Bounds &ranks = rule.bounds[processes], &on = rule.bounds[nodes];
        starts.insert({(ranks.lowest + each - 1) / each, on.lowest});
        for (const Count last : {ranks.highest / each, on.highest}) {
            if (last < end) starts.insert(last + 1);
        }
    }
    std::erase_if(starts, [&](Count count) { return count < first || count >= end; });

    std::vector<Row> rows;
    for (auto start = starts.begin(); start != starts.end(); ++start) {
        const Count beyond = std::next(start) == starts.end() ? end : *std::next(start);
        const Placement placement = Placement::regular(static_cast<Rank>(*start), ranks_per_node);
        Row row = {.processes = {*start * each, (beyond - 1) * each}, .regions = {}};
        Situation call = situation;
        call.processes = placement.size();
        for (call.bytes = 0;;) {
            Interval lengths;
            const auto rule = deciding(call, Spread::of(placement), lengths);
            Region region = {lengths, nullptr, {}};
            if (rule.value_or(nullptr) != nullptr) region = {lengths, &(*rule)->choice, {(*rule)->line}};
            join(row.regions, std::move(region));
            if (lengths.highest == any_count.highest) break;
            call.bytes = lengths.highest + 1;
        }
        const auto alike = [](const Region& a, const Region& b) {
            return a.bytes.highest == b.bytes.highest && a.lines == b.lines;
        };
        if (!rows.empty() && std::ranges::equal(rows.back().regions, row.regions, alike)) {
            rows.back().processes.highest = row.processes.highest;
        } else {
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

}  // namespace rondo
