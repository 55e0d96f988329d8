// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/proposal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "rondo/algorithms/patterns/hubs.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/selection/closing.hpp"
#include "rondo/selection/estimate.hpp"
#include "rondo/selection/load.hpp"
#include "rondo/selection/verdicts.hpp"

namespace rondo {
namespace {

using virtual_machine::CostModel;

constexpr EstimateLimits rough = {.ranks = 32, .on_node = 4, .messages = 1 << 11, .segments = 32};
constexpr EstimateLimits fine = {.ranks = 128, .on_node = 8, .messages = 1 << 13, .segments = 32};
constexpr std::size_t most_finalists = 5;
constexpr Count usual_of_short = 8;
constexpr double worth_another_look = 2.5;  // as long as the fastest, at most

// What every rank of a node passes on goes through memory that they share, of which the model knows nothing. So an
// algorithm that does not know of nodes has to promise more than one that does.
constexpr double worth_ignoring_nodes = 1.15;

struct Candidate {
    Choice choice;
    double seconds = 0;
    bool is_rough = false;
};

std::vector<Setting> with_usual_segment(const Choice& choice, const SharedFacts& facts, Count eager) {
    if (!has_open_segment(choice.settings)) return choice.settings;
    Count usual = std::clamp(eager, virtual_machine::shortest_segment, segment_parameter.standard);
    if (choice.algorithm->cuts_whole_vector && facts.placement != nullptr) {
        const Count some_for_each_node = facts.bytes() / (Count{2} * facts.placement->nodes());
        usual = std::clamp(some_for_each_node, virtual_machine::shortest_segment, usual);
    }
    return virtual_machine::with_segment(choice.settings, usual);
}

/// Hubs were measured with medium vectors on nodes of several ranks. For other calls the model thinks them as good as
/// what was measured there, and knows nothing of what many messages to one rank, or of memory, cost. Two nodes have one
/// hub, and an allreduce has twice as many messages: longer vectors of these take longer than by other algorithms.
bool suits_hubs(const Collective& collective, const SharedFacts& facts) {
    if (facts.placement == nullptr || facts.placement->most_on_node() == 1) return false;
    constexpr Count shortest = 8 << 10;
    const Count longest = collective.has.root && facts.placement->nodes() > 2 ? 2 << 20 : 512 << 10;
    return facts.bytes() >= shortest && facts.bytes() <= longest;
}

/// An algorithm as it is, and with other values of what says how many messages it sends at once, which algorithm serves
/// a part of it, or how many ranks of a node speak for it; one other value at a time.
std::vector<Choice> variants_of(const AlgorithmInfo& algorithm) {
    static constexpr Count widths[] = {2, 3, 4, 8};
    std::vector<Choice> variants{{&algorithm, algorithm.open_settings()}};
    const auto add = [&](std::size_t index, Count value) {
        const Parameter& parameter = algorithm.parameters[index];
        if (value == parameter.standard || value < parameter.minimum || value > parameter.maximum) return;
        variants.push_back({&algorithm, algorithm.open_settings()});
        variants.back().settings[index].value = value;
    };
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        const Parameter& parameter = algorithm.parameters[i];
        for (Count each = 0; each < std::ssize(parameter.alternatives); ++each) add(i, each);
        if (parameter.name == hub_leaders.name) add(i, 1);
        if (parameter.name != "radix" && parameter.name != "ports") continue;
        for (const Count width : widths) add(i, width);
    }
    return variants;
}

/// Each algorithm that serves the call and can be timed, as its fastest variant; the fastest first. (Many variants of a
/// few algorithms would leave no place for others among those that are looked at again.)
std::vector<Candidate> candidates_of(const Collective& collective, const SharedFacts& facts, const CostModel& costs) {
    std::vector<Candidate> candidates;
    for (const AlgorithmInfo* algorithm : collective.algorithms) {
        if (!algorithm->is_proposed || (algorithm->cuts_whole_vector && !suits_hubs(collective, facts))) continue;
        std::optional<Candidate> fastest;
        for (Choice& choice : variants_of(*algorithm)) {
            const auto settings = with_usual_segment(choice, facts, costs.eager);
            if (algorithm->refusal(facts, settings)) continue;
            const bool is_pipeline =
                has_open_segment(choice.settings) && facts.bytes() > virtual_machine::shortest_segment;
            const auto seconds = estimated_seconds(*algorithm, facts, settings, costs, is_pipeline ? rough : fine);
            if (seconds && (!fastest || *seconds < fastest->seconds)) {
                fastest = {std::move(choice), *seconds, is_pipeline};
            }
        }
        if (fastest) candidates.push_back(*std::move(fastest));
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::seconds);
    return candidates;
}

/// Seconds by which candidates are compared.
double looked_at_again(const Candidate& candidate, const SharedFacts& facts, const Machine& machine,
                       const CostModel& costs) {
    const AlgorithmInfo& algorithm = *candidate.choice.algorithm;
    const auto settings = settings_for(candidate.choice, facts, machine);
    double seconds = candidate.seconds;
    if (candidate.is_rough) seconds = estimated_seconds(algorithm, facts, settings, costs, fine).value_or(seconds);
    // Where fewer ranks stand for a large node, they do not fill its lanes as all of them do.
    if (facts.size > fine.ranks) seconds = std::max(seconds, least_seconds(algorithm, facts, settings, costs));
    const bool ignores_nodes =
        !algorithm.uses_nodes && facts.placement != nullptr && facts.placement->most_on_node() > 1;
    return ignores_nodes ? worth_ignoring_nodes * seconds : seconds;
}

}  // namespace

std::optional<Proposal> proposed(const Collective& collective, const SharedFacts& facts, const Machine& machine) {
    CostModel costs = machine.costs(facts.placement);
    costs.fluid = true;
    std::vector<Candidate> candidates = candidates_of(collective, facts, costs);
    std::optional<Proposal> best;
    for (std::size_t i = 0; i < std::min(most_finalists, candidates.size()); ++i) {
        Candidate& each = candidates[i];
        if (each.seconds > worth_another_look * candidates.front().seconds) break;
        const double seconds = looked_at_again(each, facts, machine, costs);
        if (!best || seconds < best->seconds) best = {std::move(each.choice), seconds};
    }
    return best;
}

Interval lengths_like(Count bytes) {
    const std::uint8_t of_class = length_class(bytes);
    const Count first = of_class == length_class(0) ? 0 : Count{1} << (of_class - 1);
    return {first, (Count{1} << of_class) - 1};
}

SharedFacts typical_call(const Collective& collective, const SharedFacts& facts) {
    const Count shortest = lengths_like(facts.bytes()).lowest;
    const Count bytes = shortest == 0 ? usual_of_short : shortest / 2 * 3;
    SharedFacts typical = facts;
    typical.count = std::max<Count>(1, bytes / std::max<Count>(1, facts.element_bytes));
    typical.root = 0;
    typical.starts = {};
    return collective.facts(typical);
}

}  // namespace rondo
