// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr int seen_ranks = 32;
// Samples of pipelines have some segments, half of them and a quarter. Where messages are buffered, a pipeline is full
// late: the more segments, the better.
constexpr Count shares_of_last = 4;
constexpr double samples_together = 1.75;  // of the last one

/// Of one rank.
Effort effort_at(const Problem& problem, Rank rank) {
    const auto call = problem.call(rank);
    Schedule schedule = schedule_of(*call, problem.algorithm);
    Effort effort;
    // In a cycle a rank passes every part on, and looks also at those in which there is nothing to pass.
    if (problem.algorithm.has_segments_of_parts && !problem.algorithm.uses_nodes) effort.steps = problem.facts.size;
    while (const Step* step = schedule.next()) {
        ++effort.steps;
        if (step->kind != StepKind::exchange) continue;
        effort.messages += static_cast<double>(std::ranges::count_if(step->transfers, [&](const Transfer& transfer) {
            return transfer.direction == Direction::send && step->peer(transfer) != no_rank;
        }));
    }
    return effort;
}

std::optional<Count> segment_of(const Problem& problem) {
    for (const Setting& setting : problem.settings) {
        if (setting.name == segment_parameter.name) return setting.value;
    }
    return std::nullopt;
}

}  // namespace

Effort effort_of(const Problem& problem) {
    const Rank size = problem.facts.size;
    Effort all;
    const auto add = [&all](const Effort& effort, double times) {
        all.messages += times * effort.messages;
        all.steps += times * effort.steps;
    };
    // Who is like nobody else.
    const Rank apart[] = {0, problem.facts.root, size - 1};
    for (const Rank rank : apart) add(effort_at(problem, rank), 1);
    std::uint64_t state = 1;
    const Rank seen = std::min(size, Rank{seen_ranks});
    for (Rank i = 0; i < seen; ++i) {  // others, anywhere, the same in every run; Knuth's MMIX
        state = state * 6364136223846793005 + 1442695040888963407;
        const auto rank = static_cast<Rank>((state >> 33) % static_cast<std::uint64_t>(size));
        if (std::ranges::find(apart, rank) == std::end(apart)) add(effort_at(problem, rank), double(size) / seen);
    }
    return all;
}

std::optional<Predictor> Predictor::of(const Problem& problem, const PredictionLimits& limits) {
    if (limits.messages == 0) return std::nullopt;
    const Effort effort = effort_of(problem);
    const bool has_few_steps = effort.steps <= static_cast<double>(limits.steps);
    if (limits.alike && (!has_few_steps || effort.messages > static_cast<double>(limits.whole))) {
        if (auto found = of_one_node(Means::one_node, problem, limits)) return found;
    }
    if (has_few_steps && effort.messages <= static_cast<double>(limits.messages)) {
        auto found = of_one(Means::whole, problem, Timing::of(problem, limits.flight, limits.messages));
        if (found) return found;
    }
    if (limits.alike) {
        if (auto found = of_equal_parts(problem, limits)) return found;
    }
    return of_few_segments(problem, limits);
}

std::optional<Predictor> Predictor::of_one(Means means, const Problem& problem, std::optional<Timing> timing) {
    if (!timing) return std::nullopt;
    Predictor found(means, problem.facts.element_bytes);
    found.runs_.push_back({1, std::move(*timing)});
    return found;
}

std::optional<Predictor> Predictor::of_one_node(Means means, const Problem& problem, const PredictionLimits& limits) {
    auto timing = Timing::of_one_node(problem, limits.flight, limits.messages);
    if (timing && !timing->time_if_it_ends({}, problem.facts.element_bytes)) return std::nullopt;
    return of_one(means, problem, std::move(timing));
}

std::optional<Predictor> Predictor::of_equal_parts(const Problem& problem, const PredictionLimits& limits) {
    Problem equal = problem;
    const Count size = problem.facts.size;
    equal.facts.count = (problem.facts.count + size - 1) / size * size;
    equal.facts.starts = {};
    if (equal.facts.count == problem.facts.count) return std::nullopt;
    if (problem.parts != nullptr || problem.algorithm.refusal(equal.facts, equal.settings)) return std::nullopt;
    return of_one_node(Means::equal_parts, equal, limits);
}

std::optional<Predictor> Predictor::of_few_segments(const Problem& problem, const PredictionLimits& limits) {
    const auto segment = segment_of(problem);
    if (!segment || problem.facts.count == 0) return std::nullopt;
    const SharedFacts stream = stream_of(problem.algorithm, problem.facts);
    const Count segments = std::max<Count>(1, segments_of(stream, *segment)),
                length = (stream.count + segments - 1) / segments;
    const auto settings = with_segment(problem.settings, std::max<Count>(1, length * stream.element_bytes));
    Problem few = problem;
    few.settings = settings;
    few.facts.starts = {};
    const auto cut = [&](Count number) {
        few.facts.count = number * length * shares_of(problem.algorithm, problem.facts);
        return few;
    };
    const auto is_affordable = [&](Count number) {
        const Effort effort = effort_of(cut(number));
        // Half of what a whole may take: nobody waits longer for the samples of a million ranks.
        return samples_together * effort.messages <= static_cast<double>(limits.messages) / 2 &&
               samples_together * effort.steps <= static_cast<double>(limits.steps);
    };
    Count last = segments / 2 / shares_of_last * shares_of_last;
    while (last > 0 && !is_affordable(last)) last = last / 2 / shares_of_last * shares_of_last;
    if (last == 0) return std::nullopt;
    Predictor found(Means::few_segments, problem.facts.element_bytes);
    found.segments_ = segments;
    for (const Count number : {last / 4, last / 2, last}) {
        if (problem.algorithm.refusal(cut(number).facts, settings)) return std::nullopt;
        auto timing = Timing::of(cut(number), limits.flight, limits.messages);
        if (!timing) return std::nullopt;
        found.runs_.push_back({number, std::move(*timing)});
    }
    return found;
}

Prediction Predictor::predict(const CostModel& costs) {
    if (means_ != Means::few_segments) return {runs_.front().timing.time(costs, element_bytes_), means_};
    std::vector<double> times;
    times.reserve(runs_.size());
    for (Run& run : runs_) times.push_back(run.timing.time(costs, element_bytes_));
    const auto each = [&](std::size_t from) {
        return (times[from + 1] - times[from]) / static_cast<double>(runs_[from + 1].segments - runs_[from].segments);
    };
    const auto further = static_cast<double>(segments_ - runs_.back().segments);
    const double seconds = times.back() + further * each(1);
    return {seconds, means_, std::abs(each(1) - each(0)) * further / seconds};
}

}  // namespace rondo::virtual_machine
