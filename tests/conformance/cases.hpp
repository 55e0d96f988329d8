// SPDX-License-Identifier: BSD-3-Clause
// The calls on which every registered algorithm is tried. A new algorithm is tried without a line here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/problem.hpp"

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

inline constexpr Count counts[] = {0, 1, 2, 7, 1000};
inline constexpr Count element_bytes = 8;

/// The settings to try for a call: the standard ones, and for a segment one element, a few, and more than there are.
/// One element per segment is left out where it would only repeat the same pipeline a thousand times.
inline std::vector<std::vector<Setting>> settings_for(const AlgorithmInfo& algorithm, Rank size, Count count) {
    std::vector<std::vector<Setting>> all = {algorithm.standard_settings()};
    for (const Parameter& parameter : algorithm.parameters) {
        std::vector<Count> values;
        if (parameter.unit == Unit::bytes) {
            const Count few = std::max<Count>(1, count / (size <= 32 ? 61 : 5));
            values = {few * element_bytes + 3, (count + 1) * element_bytes};
            if (count <= 7 || size <= 9) values.push_back(1);
        } else if (size <= 40) {
            for (Count value = parameter.minimum; value <= std::min<Count>(parameter.maximum, 9); ++value) {
                values.push_back(value);
            }
        }
        for (const Count value : values) {
            std::vector<Setting> settings = algorithm.standard_settings();
            for (Setting& setting : settings) {
                if (setting.name == parameter.name) setting.value = value;
            }
            all.push_back(std::move(settings));
        }
    }
    return all;
}

inline std::string describe(const virtual_machine::Problem& problem) {
    std::string text = "p=" + std::to_string(problem.facts.size) + " count=" + std::to_string(problem.facts.count) +
                       (problem.facts.op.commutative ? " commutative" : "") + (problem.in_place ? " in place" : "");
    for (const Setting& setting : problem.settings) {
        text += " " + std::string(setting.name) + "=" + std::to_string(setting.value);
    }
    return text;
}

/// Calls `body(problem)` for every case with this number of ranks that the algorithm does not refuse.
template <class Body>
void for_each_case(const AlgorithmInfo& algorithm, Rank size, Body&& body) {
    for (const Count count : counts) {
        for (const auto& settings : settings_for(algorithm, size, count)) {
            for (const bool commutative : {false, true}) {
                for (const bool in_place : {false, true}) {
                    const CallFacts facts{
                        .size = size, .count = count, .element_bytes = element_bytes, .op = {commutative}};
                    if (algorithm.refusal(facts, settings)) continue;
                    const virtual_machine::Problem problem{algorithm, facts, settings, in_place};
                    SCOPED_TRACE(describe(problem));
                    body(problem);
                    if (testing::Test::HasFailure()) return;
                }
            }
        }
    }
}

}  // namespace rondo::conformance
