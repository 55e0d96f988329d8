// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/segment_choice.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr Count shortest_candidate = 4 << 10;
/// Numbers of segments with which pipelines are run.
struct Samples {
    Count few, more;
};
// By then the pipelines are full, and the time grows by the same amount for every further segment: more exactly so, and
// nearly so where more is not affordable.
constexpr Samples samples[] = {{32, 48}, {16, 24}};
// Of every part, where segments are those of parts, whose messages are many.
constexpr Samples samples_of_parts[] = {{8, 12}};
// What stands for more ranks than can be run: the largest group that is affordable.
constexpr Rank groups[] = {32, 16, 8};
constexpr Rank groups_with_parts[] = {3};
// With so many, it shows how the way of the first segment grows with the ranks: as a chain, as a tree.
constexpr Rank many_ranks = 64;
// Of segments that are as good as this the longest is taken: what is not in the model grows with their number.
constexpr double as_good = 1.01;
// Several libraries ask the receiver before they send messages of so many bytes. The two latencies that it takes are
// not in the model either, so that it must promise more than this for them.
constexpr Count usual_rendezvous = 64 << 10;
constexpr double worth_a_rendezvous = 1.05;

std::vector<Setting> with_segment(std::span<const Setting> settings, Count bytes) {
    std::vector<Setting> result(settings.begin(), settings.end());
    for (Setting& setting : result) {
        if (setting.name == segment_parameter.name) setting.value = bytes;
    }
    return result;
}

/// The vector that is cut into segments: all of it, or a part of even ones.
CallFacts stream_of(const AlgorithmInfo& algorithm, const CallFacts& facts) {
    CallFacts stream = facts;
    if (algorithm.has_segments_of_parts) stream.count = (facts.count + facts.size - 1) / facts.size;
    return stream;
}

/// Times of one call's pipeline for any number of segments. Plans are made for vectors of that many elements, one to a
/// segment, and serve for segments of every length.
class Pipeline {
  public:
    /// On `group` ranks, which stand for all if they are fewer. `most`: messages that one time may take.
    Pipeline(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
             const CostModel& costs, Rank group, Samples with, Count most)
        : algorithm_(algorithm), facts_(facts), stream_(stream_of(algorithm, facts)),
          settings_(with_segment(settings, 1)), costs_(costs), group_(group), samples_(with), most_(most) {
        // Every segment comes to all ranks, or from all of them: one message each, at least.
        is_affordable_ = (group - 1) * streams(group) * (with.few + with.more) <= most;
    }

    /// False: times mean nothing.
    [[nodiscard]] bool is_affordable() const { return is_affordable_; }

    SegmentChoice of(Count segment) {
        const Count segments = std::max<Count>(1, segments_of(stream_, segment));
        const Count longest = (stream_.count + segments - 1) / segments * stream_.element_bytes;
        double seconds = on_group(segments, longest);
        if (group_ < facts_.size) {
            if (algorithm_.has_segments_of_parts) seconds *= double(facts_.size - 1) / (group_ - 1);  // rounds
            else seconds += further_ranks(segments, longest);
        }
        const Basis basis = group_ < facts_.size       ? Basis::fewer_ranks
                            : segments > samples_.more ? Basis::extrapolated
                                                       : Basis::whole;
        return {segment, segments, seconds, basis};
    }

  private:
    /// In the vector.
    [[nodiscard]] Count streams(Rank ranks) const { return algorithm_.has_segments_of_parts ? ranks : 1; }

    double on_group(Count segments, Count bytes) {
        const double seconds = extrapolated(segments, bytes, costs_);
        if (!algorithm_.has_segments_of_parts || segments <= samples_.more) return seconds;
        // In a cycle, few segments wait for the first one to come round, and their number does not show.
        CostModel without_latency = costs_;
        without_latency.alpha = 0;
        return std::max(seconds, extrapolated(segments, bytes, without_latency));
    }

    double extrapolated(Count segments, Count bytes, const CostModel& costs) {
        if (segments <= samples_.more) return run(group_, segments, bytes, costs);
        const double few = run(group_, samples_.few, bytes, costs), more = run(group_, samples_.more, bytes, costs);
        const double each = (more - few) / static_cast<double>(samples_.more - samples_.few);
        return more + each * static_cast<double>(segments - samples_.more);
    }

    /// What all ranks take longer than the group: as a single segment does, but that a hop costs more or less in a
    /// pipeline that is full.
    double further_ranks(Count segments, Count bytes) {
        const Rank half = group_ / 2;
        const Count full = std::min(segments, samples_.few);
        const double single = run(group_, 1, bytes, costs_), hops = single - run(half, 1, bytes, costs_);
        const double full_hops = run(group_, full, bytes, costs_) - run(half, full, bytes, costs_);
        const double ratio = hops > 0 ? std::clamp(full_hops / hops, 0.5, 2.0) : 1;
        return (single_segment(bytes) - single) * ratio;
    }

    /// On all ranks. Beyond `many_ranks`, every doubling of their number takes as much longer than the one before as
    /// the last one that was run.
    double single_segment(Count bytes) {
        if (facts_.size <= many_ranks) return run(facts_.size, 1, bytes, costs_);
        const double half = run(many_ranks / 2, 1, bytes, costs_);
        double seconds = run(many_ranks, 1, bytes, costs_), step = seconds - half;
        const double step_before = half - run(many_ranks / 4, 1, bytes, costs_);
        const double growth = step_before > 0 ? step / step_before : 1;
        for (std::int64_t ranks = many_ranks; ranks < facts_.size; ranks *= 2) {
            step *= growth;
            const double share = static_cast<double>(facts_.size - ranks) / static_cast<double>(ranks);
            seconds += step * std::min(share, 1.0);
        }
        return seconds;
    }

    double run(Rank ranks, Count segments, Count bytes, const CostModel& costs) {
        auto found = timings_.find({ranks, segments});
        if (found == timings_.end()) {
            found = timings_.emplace(std::pair(ranks, segments), timing_of(ranks, segments)).first;
        }
        if (found->second) return found->second->time(costs, bytes);
        is_affordable_ = false;
        return 0;
    }

    [[nodiscard]] std::optional<Timing> timing_of(Rank ranks, Count segments) const {
        CallFacts facts = facts_;
        facts.root = static_cast<Rank>(std::int64_t{facts.root} * ranks / facts.size);  // the same place
        facts.size = ranks;
        facts.count = segments * streams(ranks);
        facts.element_bytes = 1;
        facts.starts = {};
        // What an algorithm serves only because it is larger cannot be run small.
        if (algorithm_.refusal(facts, settings_)) return std::nullopt;
        return Timing::of(Problem{algorithm_, facts, settings_}, {}, most_);
    }

    const AlgorithmInfo& algorithm_;
    const CallFacts facts_, stream_;
    const std::vector<Setting> settings_;
    const CostModel costs_;
    const Rank group_;
    const Samples samples_;
    const Count most_;
    bool is_affordable_;
    std::map<std::pair<Rank, Count>, std::optional<Timing>> timings_;
};

/// The best of all candidates: from `start` on to whichever side is better, in steps of two, and the neighbours of the
/// best. Times fall and rise once over the segments, but for a little noise.
class Search {
  public:
    Search(std::span<const Count> candidates, std::size_t start) : candidates_(candidates), best_(start) {}

    static Count most_times(std::size_t candidates) { return static_cast<Count>(candidates / 2 + 3); }

    SegmentChoice best(Pipeline& pipeline) {
        const std::size_t start = best_;
        choice_ = pipeline.of(candidates_[start]);
        while (improves(-2, pipeline)) {
        }
        if (best_ == start) {
            while (improves(2, pipeline)) {
            }
        }
        if (!improves(1, pipeline)) improves(-1, pipeline);
        return choice_;
    }

  private:
    /// Goes so many candidates on, if that is better.
    bool improves(int step, Pipeline& pipeline) {
        const auto next = static_cast<std::ptrdiff_t>(best_) + step;
        if (next < 0 || next >= std::ssize(candidates_)) return false;
        const SegmentChoice choice = pipeline.of(candidates_[static_cast<std::size_t>(next)]);
        const bool is_better = step > 0 ? is_worth_more(choice, choice_) : !is_worth_more(choice_, choice);
        if (!is_better) return false;
        choice_ = choice;
        best_ = static_cast<std::size_t>(next);
        return true;
    }

    static bool is_worth_more(const SegmentChoice& longer, const SegmentChoice& shorter) {
        const bool begins_to_ask = longer.segment >= usual_rendezvous && shorter.segment < usual_rendezvous;
        return longer.seconds <= shorter.seconds * (begins_to_ask ? 1 / worth_a_rendezvous : as_good);
    }

    std::span<const Count> candidates_;
    std::size_t best_;
    SegmentChoice choice_ = {};
};

/// What `body(pipeline)` finds on all ranks, or on the largest group that is affordable; nothing if none is.
template <class Body>
std::optional<SegmentChoice> on_affordable_group(const AlgorithmInfo& algorithm, const CallFacts& facts,
                                                 std::span<const Setting> settings, const CostModel& costs, Count most,
                                                 Body&& body) {
    const bool parts = algorithm.has_segments_of_parts;
    std::vector<Rank> sizes = {facts.size};
    for (const Rank group : parts ? std::span<const Rank>(groups_with_parts) : groups) {
        if (group < facts.size) sizes.push_back(group);
    }
    for (const Rank size : sizes) {
        for (const Samples& with : parts ? std::span<const Samples>(samples_of_parts) : samples) {
            Pipeline pipeline(algorithm, facts, settings, costs, size, with, most);
            if (!pipeline.is_affordable()) continue;
            const SegmentChoice found = body(pipeline);
            if (pipeline.is_affordable()) return found;
        }
    }
    return std::nullopt;
}

std::size_t index_of_standard(std::span<const Count> candidates) {
    const auto found = std::lower_bound(candidates.begin(), candidates.end() - 1, segment_parameter.standard);
    return static_cast<std::size_t>(found - candidates.begin());
}

/// What is taken where nothing can be timed.
SegmentChoice standard_choice(const CallFacts& stream, std::span<const Count> candidates) {
    const Count segment = candidates[index_of_standard(candidates)];
    return {segment, segments_of(stream, segment), 0, Basis::standard};
}

bool is_refused(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
                Count segment) {
    return algorithm.refusal(facts, with_segment(settings, segment)).has_value();
}

}  // namespace

std::vector<Count> candidate_segments(const AlgorithmInfo& algorithm, const CallFacts& facts) {
    const CallFacts stream = stream_of(algorithm, facts);
    const Count bytes = std::max<Count>(1, stream.bytes());
    const auto element = static_cast<std::uint64_t>(std::max<Count>(1, facts.element_bytes));
    std::vector<Count> candidates;
    for (auto segment = std::max(shortest_candidate, static_cast<Count>(std::bit_ceil(element))); segment < bytes;
         segment *= 2) {
        if (segments_of(facts, segment) <= most_segments) candidates.push_back(segment);
    }
    candidates.push_back(bytes);
    return candidates;
}

SegmentChoice best_segment(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
                           const CostModel& costs, Count budget) {
    const std::vector<Count> candidates = candidate_segments(algorithm, facts);
    const SegmentChoice standard = standard_choice(stream_of(algorithm, facts), candidates);
    // What is refused for another reason than its segments has no schedule that could be run.
    if (facts.count == 0 || is_refused(algorithm, facts, settings, standard.segment)) return standard;

    const Count most = budget / Search::most_times(candidates.size());
    const auto found = on_affordable_group(algorithm, facts, settings, costs, most, [&](Pipeline& pipeline) {
        return Search(candidates, index_of_standard(candidates)).best(pipeline);
    });
    return found.value_or(standard);
}

SegmentChoice time_of_segment(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
                              Count segment, const CostModel& costs, Count budget) {
    const SegmentChoice untimed{segment, segments_of(stream_of(algorithm, facts), segment), 0, Basis::standard};
    if (facts.count == 0 || is_refused(algorithm, facts, settings, segment)) return untimed;
    const auto found = on_affordable_group(algorithm, facts, settings, costs, budget,
                                           [&](Pipeline& pipeline) { return pipeline.of(segment); });
    return found.value_or(untimed);
}

std::vector<Setting> closed_settings(const AlgorithmInfo& algorithm, const CallFacts& facts,
                                     std::span<const Setting> settings, const CostModel& costs, Count budget) {
    for (const Setting& setting : settings) {
        if (setting.name != segment_parameter.name || setting.value != automatic) continue;
        return with_segment(settings, best_segment(algorithm, facts, settings, costs, budget).segment);
    }
    return {settings.begin(), settings.end()};
}

}  // namespace rondo::virtual_machine
