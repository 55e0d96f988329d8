// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/guidance.hpp"

#include <limits>
#include <string>

#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::prefix {
namespace {

const Collective& exscan() { return *find_collective("exscan"); }

const AlgorithmInfo& named(std::string_view name) { return *exscan().algorithm(name); }

/// With more ranks it takes longer to try all algorithms than to be right about them. The fewest rounds are what counts
/// there.
constexpr Rank most_tried = 256;
constexpr std::string_view fewest_rounds = "cyclic_doubling";

/// In one piece.
std::vector<Setting> uncut(const AlgorithmInfo& algorithm, Count bytes) {
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name) setting.value = std::max(bytes, segment_parameter.minimum);
    }
    return settings;
}

}  // namespace

Choice parse_prefix_choice(std::string_view text) {
    constexpr std::string_view chain = "chain", pipeline = "linear_pipeline";
    const Choice choice = parse_choice(exscan(), text == chain ? pipeline : text);
    if (choice.algorithm == nullptr) {
        throw Error("a prefix sum is never native; an algorithm for exscan was expected, or chain");
    }
    if (choice.uses_nodes()) {
        throw Error(std::string(text) +
                    " uses nodes, of which a prefix sum knows nothing; another algorithm was expected");
    }
    return choice;
}

const AlgorithmInfo& quickest(Rank size, Count bytes, bool commutative, const Machine& machine) {
    if (size > most_tried) return named(fewest_rounds);
    const SharedFacts facts = exscan().facts({.size = size, .count = 1, .element_bytes = bytes, .op = {commutative}});
    const AlgorithmInfo* best = &named(fewest_rounds);
    double least = std::numeric_limits<double>::infinity();
    for (const AlgorithmInfo* algorithm : exscan().algorithms) {
        const std::vector<Setting> settings = uncut(*algorithm, bytes);
        if (algorithm->uses_nodes || algorithm->unmet(facts, settings) != nullptr) continue;
        const double time = virtual_machine::time_of(*algorithm, facts, settings, machine.costs());
        if (time < least) {
            least = time;
            best = algorithm;
        }
    }
    return *best;
}

}  // namespace rondo::prefix
