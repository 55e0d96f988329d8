// SPDX-License-Identifier: BSD-3-Clause
// The calls on which every registered algorithm is tried. A new algorithm is tried without a line here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/placement.hpp"
#include "tests/sanitized.hpp"

namespace rondo::conformance {

inline std::vector<const AlgorithmInfo*> all_algorithms() {
    std::vector<const AlgorithmInfo*> all;
    for (const Collective& collective : collectives()) {
        all.insert(all.end(), collective.algorithms.begin(), collective.algorithms.end());
    }
    return all;
}

inline std::string test_name(const testing::TestParamInfo<const AlgorithmInfo*>& info) {
    return std::string(info.param->collective) + "_" + std::string(info.param->name);
}

/// So many ranks on each node, one node after the other.
inline Placement nodes_of(const std::vector<Rank>& ranks) {
    std::vector<Rank> names;
    for (std::size_t node = 0; node < ranks.size(); ++node) {
        names.insert(names.end(), static_cast<std::size_t>(ranks[node]), static_cast<Rank>(node));
    }
    return Placement::of(names);
}

inline int ceil_log2(std::int64_t n) {
    int log = 0;
    while ((std::int64_t{1} << log) < n) ++log;
    return log;
}

/// RONDO_SOAK stands for `make soak`, where everything is tried at full width.
inline bool is_full() { return std::getenv("RONDO_SOAK") != nullptr && !is_sanitized; }

/// The largest number of ranks of a test.
struct Width {
    Rank brief, everyday, full;

    Rank operator()() const noexcept { return is_full() ? full : is_sanitized ? brief : everyday; }
};

inline constexpr Count element_bytes = 8;
inline constexpr Rank thorough_size = 40;  // up to so many ranks everything is tried, beyond it a choice that changes

inline std::vector<Count> counts_for(const AlgorithmInfo& algorithm, Rank size) {
    const Traits has = find_collective(algorithm.collective)->has;
    if (!has.data) return {size};
    std::vector<Count> counts = {0, 1, 2, 7, size - 1, size, size + 1, 1000};
    if (size > thorough_size) counts = {1, size - 1, size + 1, 1000};
    if (!has.all_to_all()) return counts;
    // Every rank has as many elements for each.
    for (Count& count : counts) count = (count + size - 1) / size * size;
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

/// The settings to try for a call: all combinations of a few values of each parameter. A segment is one element, a few,
/// or the whole vector; one element where that would only repeat the same pipeline a thousand times is left out.
inline std::vector<std::vector<Setting>> settings_for(const AlgorithmInfo& algorithm, Rank size, Count count) {
    std::vector<std::vector<Setting>> all = {algorithm.standard_settings()};
    for (const Parameter& parameter : algorithm.parameters) {
        std::vector<Count> values = {};
        if (parameter.unit == Unit::bytes) {
            const Count few = std::max<Count>(1, count / (size <= 32 ? 61 : 5));
            values = {few * element_bytes + 3, std::max<Count>(1, count) * element_bytes};
            if (count <= 7 || size <= 9) values.push_back(1);
            if (algorithm.slot != nullptr) values.resize(1);  // the standard one holds most parts
        } else if (algorithm.slot != nullptr) {               // tried at all values with equal parts
            values = {std::clamp<Count>(3, parameter.minimum, parameter.maximum)};
        } else if (size <= thorough_size) {
            for (Count value = parameter.minimum; value <= std::min<Count>(parameter.maximum, 9); ++value) {
                if (value != parameter.standard) values.push_back(value);
            }
        } else if (parameter.name == "ports") {
            for (const Count value : {1, 3, 7, 8}) {
                if (value != parameter.standard && value <= parameter.maximum) values.push_back(value);
            }
        }
        const std::size_t known = all.size();
        for (const Count value : values) {
            for (std::size_t i = 0; i < known; ++i) {
                std::vector<Setting> settings = all[i];
                for (Setting& setting : settings) {
                    if (setting.name == parameter.name) setting.value = value;
                }
                all.push_back(std::move(settings));
            }
        }
    }
    return all;
}

/// How a vector may be cut into parts for the ranks: evenly (nothing); into parts of all lengths, some empty; with most
/// of it in the part of one rank; with everything there.
inline std::vector<std::vector<Count>> divisions(Rank size, Count count) {
    std::vector<Count> mixed = {0}, skewed = {0}, one_has_all = {0};
    const Rank longest = size * 2 / 3;
    for (Rank rank = 0; rank < size; ++rank) {
        const Count left = count - mixed.back(), ranks_left = size - rank;
        mixed.push_back(rank + 1 == size ? count : mixed.back() + left * (rank * 7 % 5) / (2 * ranks_left + 3));
        const Count few = rank % 3 == 1 ? std::min<Count>(1, count / 2 / size) : count / 4 / size;
        skewed.push_back(skewed.back() + few);
        one_has_all.push_back(rank < longest ? 0 : count);
    }
    const Count rest = count - skewed.back();
    for (Rank rank = longest; rank < size; ++rank) skewed[static_cast<std::size_t>(rank) + 1] += rest;
    return {{}, mixed, skewed, one_has_all};
}

/// Elements from each rank to each, where nobody knows all of them: as many for all; of all lengths, some empty; most
/// of them to and from one rank; all of them between two.
inline Count count_between(Rank size, Count count, std::size_t division, Rank first, Rank last) {
    switch (division) {
        case 0: return (count + size - 1) / size;
        case 1: return (first * 7 + last * 3) % 5 == 0 ? 0 : (first * 5 + last * 11) % (2 * count / size + 2);
        case 2: return first == size / 3 || last == size / 3 ? count : first % 3;
        default: return first == 0 && last == size - 1 ? count : 0;
    }
}

/// In place, two ranks have as much for each other.
inline virtual_machine::PartTable parts_between(Rank size, Count count, std::size_t division, bool in_place) {
    const auto between = [&](Rank from, Rank to) {
        if (in_place && from > to) std::swap(from, to);
        return count_between(size, count, division, from, to);
    };
    return {size, between, {.gap = division % 2 == 0 ? 0 : 2, .reverse = division >= 2}};
}

/// Of a scatter or gather. In place, the root has none.
inline virtual_machine::PartTable parts_of_root(const SharedFacts& facts, Count count, std::size_t division,
                                                bool in_place) {
    const auto of_rank = [&](Rank rank) {
        return in_place && rank == facts.root ? 0 : count_between(facts.size, count, division, rank, facts.size - 1);
    };
    return {facts.size,
            facts.root,
            facts.input == Share::whole_at_root,
            of_rank,
            {.gap = division % 2 == 0 ? 0 : 2, .reverse = division >= 2}};
}

/// Of a call, besides its vector.
struct Form {
    Rank root = 0;
    bool commutative = false, in_place = false;
    std::size_t division = 0;  ///< which of `divisions`
};

/// Every root, or one: the ends, the middle, and any other in turn.
inline std::vector<Rank> roots(Rank size) {
    if (size > thorough_size) return {std::array{Rank{0}, size / 2, size * 2 / 3, size - 1}.at(std::size_t(size) % 4)};
    std::vector<Rank> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// All forms that differ for the collective.
inline std::vector<Form> forms_of(const AlgorithmInfo& algorithm, Rank size) {
    const Traits has = find_collective(algorithm.collective)->has;
    std::vector<Form> forms;
    for (const Rank root : has.root ? roots(size) : std::vector<Rank>{0}) {
        for (const bool commutative : {false, true}) {
            for (const bool in_place : {false, true}) {
                const bool can_be_in_place = has.operation || has.parts() || has.all_to_all();
                if ((!has.operation && commutative) || (!can_be_in_place && in_place)) continue;
                if (size > thorough_size && in_place != (size / 4 % 2 == 0) && can_be_in_place) continue;
                for (const std::size_t division : {0, 1, 2, 3}) {
                    if (division == 0 || has.parts() || has.local_lengths)
                        forms.push_back({root, commutative, in_place, division});
                }
            }
        }
    }
    return forms;
}

inline std::string describe(const virtual_machine::Problem& problem) {
    std::string text = "p=" + std::to_string(problem.facts.size) + " count=" + std::to_string(problem.facts.count) +
                       (problem.facts.root > 0 ? " root=" + std::to_string(problem.facts.root) : "") +
                       (problem.facts.op.commutative ? " commutative" : "") + (problem.in_place ? " in place" : "");
    if (!problem.facts.starts.empty()) {
        text += " parts from";
        for (const Count start : problem.facts.starts) text += " " + std::to_string(start);
    }
    for (const Setting& setting : problem.settings) {
        text += " " + std::string(setting.name) + "=" + std::to_string(setting.value);
    }
    return text;
}

/// Calls `body(problem)` for the cases with this number of ranks that the algorithm does not refuse: for all of them,
/// or, where they are more than `most`, for so many that are spread over all. `placement`: of the ranks, if imposed;
/// `root`: the only one, if there is one.
template <class Body>
void for_each_case(const AlgorithmInfo& algorithm, Rank size, std::size_t most, Body&& body,
                   const Placement* placement = nullptr, std::optional<Rank> root = {}) {
    struct Case {
        SharedFacts facts;
        std::vector<Setting> settings;
        bool in_place;
        Count count;
        std::size_t division;
    };
    const bool has_local_lengths = find_collective(algorithm.collective)->has.local_lengths;
    std::vector<Case> cases;
    std::list<std::vector<std::vector<Count>>> starts;  // borrowed by the facts
    for (const Count count : counts_for(algorithm, size)) {
        starts.push_back(divisions(size, count));
        for (const auto& settings : settings_for(algorithm, size, count)) {
            for (const Form& form : forms_of(algorithm, size)) {
                if (root && form.root != *root) continue;
                const SharedFacts facts = find_collective(algorithm.collective)
                                              ->facts({.size = size,
                                                       .count = count,
                                                       .element_bytes = element_bytes,
                                                       .root = form.root,
                                                       .op = {form.commutative},
                                                       .starts = starts.back()[form.division],
                                                       .placement = placement});
                if (!algorithm.refusal(facts, settings)) {
                    cases.push_back({facts, settings, form.in_place, count, form.division});
                }
            }
        }
    }
    const std::size_t runs = std::min(most, cases.size());
    for (std::size_t run = 0; run < runs; ++run) {
        // Another offset for every size, so that together they meet everything.
        const std::size_t at = (run * cases.size() / runs + static_cast<std::size_t>(size) * 7) % cases.size();
        virtual_machine::Problem problem{algorithm, cases[at].facts, cases[at].settings, cases[at].in_place};
        std::optional<virtual_machine::PartTable> parts;
        if (has_local_lengths) {
            const auto& [facts, settings, in_place, count, division] = cases[at];
            parts = facts.input == Share::own ? parts_between(size, count, division, in_place)
                                              : parts_of_root(facts, count, division, in_place);
            problem.parts = &*parts;
        }
        SCOPED_TRACE(describe(problem));
        body(std::as_const(problem));
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace rondo::conformance
