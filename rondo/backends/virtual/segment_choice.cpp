// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/segment_choice.hpp"

#include <algorithm>
#include <bit>

#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

// So many are all tried.
constexpr std::size_t few_candidates = 6;
// Of segments that are as good as this the longest is taken: what is not in the model grows with their number.
constexpr double as_good = 1.01;
// To leave the standard segment must promise more than this. What is not in the model: processors that many messages
// keep from other work.
constexpr double worth_leaving_standard = 1.05;

/// Where the search begins. Limits that leave the standard segment alone, and those that no candidate can keep, change
/// nothing.
Count standard_within(Count eager) {
    if (eager >= segment_parameter.standard || eager < shortest_segment) return segment_parameter.standard;
    return static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(eager)));
}

/// The best of all candidates, from that with index `start` on to whichever side is better: times fall and rise once
/// over the segments, but for noise where there are few of them.
SegmentTime best_of(std::span<const Count> candidates, std::size_t start, PipelineTimes& pipeline) {
    const bool every_one = candidates.size() <= few_candidates;
    const SegmentTime standard = pipeline.of(candidates[start]);
    SegmentTime best = standard;
    for (const int step : {-1, 1}) {
        if (best.segment != standard.segment && !every_one) break;
        for (auto i = static_cast<std::ptrdiff_t>(start) + step; i >= 0 && i < std::ssize(candidates); i += step) {
            const SegmentTime next = pipeline.of(candidates[static_cast<std::size_t>(i)]);
            const bool is_better =
                step > 0 ? next.seconds <= best.seconds * as_good : next.seconds * as_good < best.seconds;
            if (is_better) best = next;
            else if (!every_one) break;
        }
    }
    return best.seconds * worth_leaving_standard <= standard.seconds ? best : standard;
}

std::size_t index_of_standard(std::span<const Count> candidates, Count standard) {
    const auto found = std::lower_bound(candidates.begin(), candidates.end() - 1, standard);
    return static_cast<std::size_t>(found - candidates.begin());
}

/// What is taken where nothing can be timed.
SegmentTime standard_choice(const SharedFacts& stream, std::span<const Count> candidates, Count standard) {
    const Count segment = candidates[index_of_standard(candidates, standard)];
    return {segment, segments_of(stream, segment), 0, Basis::standard};
}

bool is_refused(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                Count segment) {
    return algorithm.refusal(facts, with_segment(settings, segment)).has_value();
}

}  // namespace

std::vector<Count> candidate_segments(const AlgorithmInfo& algorithm, const SharedFacts& facts) {
    const SharedFacts stream = stream_of(algorithm, facts);
    const Count bytes = std::max<Count>(1, stream.bytes());
    const auto element = static_cast<std::uint64_t>(std::max<Count>(1, facts.element_bytes));
    std::vector<Count> candidates;
    for (auto segment = std::max(shortest_segment, static_cast<Count>(std::bit_ceil(element))); segment < bytes;
         segment *= 2) {
        if (segments_of(facts, segment) <= most_segments) candidates.push_back(segment);
    }
    candidates.push_back(bytes);
    return candidates;
}

SegmentTime best_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                         const CostModel& costs, Count budget) {
    const Count begin = standard_within(costs.eager);
    const std::vector<Count> candidates = candidate_segments(algorithm, facts);
    const SegmentTime standard = standard_choice(stream_of(algorithm, facts), candidates, begin);
    // What is refused for another reason than its segments has no schedule that could be run.
    if (candidates.size() == 1 || facts.count == 0 || is_refused(algorithm, facts, settings, standard.segment))
        return standard;

    PipelineTimes pipeline(algorithm, facts, settings, costs);
    const auto found = pipeline.on_affordable_group(
        budget, [&] { return best_of(candidates, index_of_standard(candidates, begin), pipeline); });
    return found.value_or(standard);
}

SegmentTime time_of_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                            Count segment, const CostModel& costs, Count budget) {
    const SegmentTime untimed{segment, segments_of(stream_of(algorithm, facts), segment), 0, Basis::standard};
    if (facts.count == 0 || is_refused(algorithm, facts, settings, segment)) return untimed;
    PipelineTimes pipeline(algorithm, facts, settings, costs);
    const auto found = pipeline.on_affordable_group(budget, [&] { return pipeline.of(segment); });
    return found.value_or(untimed);
}

std::vector<Setting> closed_settings(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                     std::span<const Setting> settings, const CostModel& costs, Count budget) {
    for (const Setting& setting : settings) {
        if (setting.name != segment_parameter.name || setting.value != automatic) continue;
        return with_segment(settings, best_segment(algorithm, facts, settings, costs, budget).segment);
    }
    return {settings.begin(), settings.end()};
}

}  // namespace rondo::virtual_machine
