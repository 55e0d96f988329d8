// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/segment_choice.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr Count shortest_candidate = 4 << 10;
/// With how many segments pipelines are run, to extrapolate from there: when the pipeline is full, and half as many
/// more. Then the time grows by the same amount for every further segment.
struct Samples {
    Count per_rank, least;
    [[nodiscard]] constexpr Count few(Rank ranks) const { return std::max(per_rank * ranks, least); }
    [[nodiscard]] constexpr Count more(Rank ranks) const { return few(ranks) * 3 / 2; }
};
// A chain is full with some segments to a rank: more exactly so, and nearly so where more is not affordable.
constexpr Samples samples[] = {{.per_rank = 4, .least = 32}, {.per_rank = 2, .least = 16}};
// Of every part, where segments are those of parts, whose messages are many.
constexpr Samples samples_of_parts[] = {{.per_rank = 0, .least = 8}};
// Of compositions. A node hands out its first pieces before it takes one back (pieces_ahead).
constexpr Samples samples_of_compositions[] = {
    {.per_rank = 0, .least = 32}, {.per_rank = 0, .least = 16}, {.per_rank = 0, .least = 8}};
// What stands for more ranks than can be run: the largest group that is affordable.
constexpr Rank groups[] = {32, 16, 8};
constexpr Rank groups_with_parts[] = {6, 4, 3};
constexpr Rank groups_of_compositions[] = {16, 8, 6, 4};
// How many actions there are to a segment is seen on the smallest group, with so many.
constexpr Count seen_segments = 4;
// With so many, it shows how the way of the first segment grows with the ranks: as a chain, as a tree.
constexpr Rank many_ranks = 32;
// No way grows faster with their doubling than a chain, but a step to other nodes looks as if it did.
constexpr double fastest_growth = 2;
// On each node where some ranks stand for more, unless the nodes are fewer.
constexpr Rank few_on_node = 2;
// So many are all tried.
constexpr std::size_t few_candidates = 6;
// Of segments that are as good as this the longest is taken: what is not in the model grows with their number.
constexpr double as_good = 1.01;
// To leave the standard segment must promise more than this. What is not in the model: processors that many messages
// keep from other work.
constexpr double worth_leaving_standard = 1.05;

/// Of collectives on nodes and lanes: what they cut is a share of a piece of the vector, and pieces are what travels.
bool is_composition(const AlgorithmInfo& algorithm) { return algorithm.uses_nodes; }

/// Each rank's part goes round.
bool is_cycle(const AlgorithmInfo& algorithm) { return algorithm.has_segments_of_parts && !is_composition(algorithm); }

std::span<const Rank> groups_of(const AlgorithmInfo& algorithm) {
    if (is_composition(algorithm)) return groups_of_compositions;
    if (is_cycle(algorithm)) return groups_with_parts;
    return groups;
}

std::span<const Samples> samples_of(const AlgorithmInfo& algorithm) {
    if (is_composition(algorithm)) return samples_of_compositions;
    if (is_cycle(algorithm)) return samples_of_parts;
    return samples;
}

std::vector<Setting> with_segment(std::span<const Setting> settings, Count bytes) {
    std::vector<Setting> result(settings.begin(), settings.end());
    for (Setting& setting : result) {
        if (setting.name == segment_parameter.name) setting.value = bytes;
    }
    return result;
}

/// Where the search begins. Limits that leave the standard segment alone, and those that no candidate can keep, change
/// nothing.
Count standard_within(Count eager) {
    if (eager >= segment_parameter.standard || eager < shortest_candidate) return segment_parameter.standard;
    return static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(eager)));
}

/// The ranks that stand for more of them. Where all of those are on nodes of their own, so are they.
std::optional<Placement> placement_of(Rank ranks, const Placement* all) {
    if (all == nullptr || all->most_on_node() == 1) return std::nullopt;
    const Rank on_node = std::max(few_on_node, (ranks + all->nodes() - 1) / all->nodes());
    std::vector<Rank> nodes;
    nodes.reserve(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(rank / on_node);
    return Placement::of(nodes);
}

Count lanes_of(const Placement* placement) { return placement == nullptr ? 1 : placement->lanes(); }

/// Into how many even shares the vector is divided, each of which is cut into segments.
Count shares_of(const AlgorithmInfo& algorithm, const SharedFacts& facts) {
    if (algorithm.has_segments_of_parts) return facts.size;
    return algorithm.uses_nodes ? lanes_of(facts.placement) : 1;
}

/// What is cut into segments: the vector, or a share of it.
SharedFacts stream_of(const AlgorithmInfo& algorithm, const SharedFacts& facts) {
    SharedFacts stream = facts;
    const Count shares = shares_of(algorithm, facts);
    stream.count = (facts.count + shares - 1) / shares;
    return stream;
}

/// Times of one call's pipeline for any number of segments. Plans are made for vectors of that many elements, one to a
/// segment, and serve for segments of every length.
class Pipeline {
  public:
    Pipeline(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
             const CostModel& costs)
        : algorithm_(algorithm), facts_(facts), stream_(stream_of(algorithm, facts)),
          settings_(with_segment(settings, 1)), costs_(costs) {}

    /// Whether `group` ranks, which stand for all if they are fewer, and their samples are worth `budget` actions. From
    /// then on times are theirs.
    bool represent(Rank group, Samples with, Count budget) {
        if (actions(group, with) > static_cast<double>(budget)) return false;
        group_ = group;
        few_ = with.few(group);
        more_ = with.more(group);
        could_run_ = true;
        return true;
    }

    /// False: some number of ranks that was needed is not served, and the times mean nothing.
    [[nodiscard]] bool could_run() const { return could_run_; }

    SegmentChoice of(Count segment) {
        const Count segments = std::max<Count>(1, segments_of(stream_, segment));
        const Count longest = (stream_.count + segments - 1) / segments * stream_.element_bytes;
        double seconds = on_group(segments, longest);
        if (group_ < facts_.size) {
            if (is_cycle(algorithm_)) seconds *= double(facts_.size - 1) / (group_ - 1);  // rounds
            else seconds += further_ranks(segments, longest);
        }
        const Basis basis = group_ < facts_.size ? Basis::fewer_ranks
                            : segments > more_   ? Basis::extrapolated
                                                 : Basis::whole;
        return {segment, segments, seconds, basis};
    }

  private:
    /// Of the plans that are made for the samples of a vector that is cut into the shortest segments; seen on a few
    /// ranks, from which they grow with the number of messages.
    double actions(Rank ranks, Samples with) {
        const Rank few = std::min(facts_.size, groups_of(algorithm_).back());
        const Timing* seen = timing_on(few, seen_segments);
        if (seen == nullptr) return std::numeric_limits<double>::infinity();
        const auto messages = [&](Rank group) {
            if (is_composition(algorithm_)) return double(group);
            return double(std::max(1, group - 1)) * double(is_cycle(algorithm_) ? group : 1);
        };
        const double per_segment = double(seen->actions()) / seen_segments * messages(ranks) / messages(few);
        // Few segments are run as they are: so many, half as many, and so on.
        const Count most_segments = segments_of(stream_, shortest_candidate);
        return per_segment * static_cast<double>(std::min(with.few(ranks) + with.more(ranks), 2 * most_segments));
    }

    double on_group(Count segments, Count bytes) {
        const double seconds = extrapolated(segments, bytes, costs_);
        if (!is_cycle(algorithm_) || segments <= more_) return seconds;
        // In a cycle, few segments wait for the first one to come round, and their number does not show.
        CostModel without_latency = costs_;
        without_latency.alpha = 0;
        if (without_latency.inside) without_latency.inside->alpha = 0;
        return std::max(seconds, extrapolated(segments, bytes, without_latency));
    }

    double extrapolated(Count segments, Count bytes, const CostModel& costs) {
        if (segments <= more_) return run(group_, segments, bytes, costs);
        const double few = run(group_, few_, bytes, costs), more = run(group_, more_, bytes, costs);
        const double each = (more - few) / static_cast<double>(more_ - few_);
        return more + each * static_cast<double>(segments - more_);
    }

    /// What all ranks take longer than the group: as a single segment does, but that a hop costs more or less in a
    /// pipeline that is full.
    double further_ranks(Count segments, Count bytes) {
        const Rank half = group_ / 2;
        const Count full = std::min(segments, few_);
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
        const double growth = step_before > 0 ? std::min(step / step_before, fastest_growth) : 1;
        for (std::int64_t ranks = many_ranks; ranks < facts_.size; ranks *= 2) {
            step *= growth;
            const double share = static_cast<double>(facts_.size - ranks) / static_cast<double>(ranks);
            seconds += step * std::min(share, 1.0);
        }
        return seconds;
    }

    double run(Rank ranks, Count segments, Count bytes, const CostModel& costs) {
        const auto [time, is_new] = times_.try_emplace({ranks, segments, bytes, costs.alpha}, 0);
        if (is_new) time->second = new_run(ranks, segments, bytes, costs);
        return time->second;
    }

    double new_run(Rank ranks, Count segments, Count bytes, const CostModel& costs) {
        Timing* timing = timing_on(ranks, segments);
        could_run_ = could_run_ && timing != nullptr;
        if (timing == nullptr) return 0;
        if (!is_composition(algorithm_) || ranks == facts_.size) return timing->time(costs, bytes);
        return time_of_few(ranks, *timing, costs, bytes);
    }

    /// The pieces of few ranks are as long as those of all: as much goes through their nodes, in as many messages.
    double time_of_few(Rank ranks, Timing& timing, CostModel costs, Count bytes) const {
        const auto placement = placement_of(ranks, facts_.placement);
        const Placement* few = placement ? &*placement : nullptr;
        const auto of_few = [](Count amount, Count all, Count some) { return (amount * all + some - 1) / some; };
        const Count lanes = lanes_of(facts_.placement), few_lanes = lanes_of(few);
        if (costs.eager != no_eager_limit) costs.eager = of_few(costs.eager, lanes, few_lanes);
        if (!algorithm_.has_segments_of_parts) return timing.time(costs, of_few(bytes, lanes, few_lanes));
        // Every phase takes some log2 of the ranks messages.
        const double messages = double(std::bit_width(unsigned(facts_.size))) / std::bit_width(unsigned(ranks));
        costs.overhead *= messages;
        if (costs.inside) costs.inside->overhead *= messages;
        return timing.time(costs, of_few(bytes, facts_.size, ranks));
    }

    /// Nothing if so many ranks cannot be run.
    Timing* timing_on(Rank ranks, Count segments) {
        auto found = timings_.find({ranks, segments});
        if (found == timings_.end()) {
            found = timings_.emplace(std::pair(ranks, segments), timing_of(ranks, segments)).first;
        }
        return found->second ? &*found->second : nullptr;
    }

    [[nodiscard]] std::optional<Timing> timing_of(Rank ranks, Count segments) const {
        SharedFacts facts = facts_;
        facts.root = static_cast<Rank>(std::int64_t{facts.root} * ranks / facts.size);  // the same place
        facts.size = ranks;
        facts.element_bytes = 1;
        facts.starts = {};
        const auto placement = placement_of(ranks, facts_.placement);
        if (ranks < facts_.size) facts.placement = placement ? &*placement : nullptr;
        facts.count = segments * shares_of(algorithm_, facts);
        // What an algorithm serves only because it is larger cannot be run small.
        if (algorithm_.refusal(facts, settings_)) return std::nullopt;
        return Timing::of(Problem{algorithm_, facts, settings_});
    }

    const AlgorithmInfo& algorithm_;
    const SharedFacts facts_, stream_;
    const std::vector<Setting> settings_;
    const CostModel costs_;
    Rank group_ = 0;
    Count few_ = 0, more_ = 0;
    bool could_run_ = true;
    std::map<std::pair<Rank, Count>, std::optional<Timing>> timings_;
    std::map<std::tuple<Rank, Count, Count, double>, double> times_;  // by bytes and latency, besides
};

/// The best of all candidates, from that with index `start` on to whichever side is better: times fall and rise once
/// over the segments, but for noise where there are few of them.
SegmentChoice best_of(std::span<const Count> candidates, std::size_t start, Pipeline& pipeline) {
    const bool every_one = candidates.size() <= few_candidates;
    const SegmentChoice standard = pipeline.of(candidates[start]);
    SegmentChoice best = standard;
    for (const int step : {-1, 1}) {
        if (best.segment != standard.segment && !every_one) break;
        for (auto i = static_cast<std::ptrdiff_t>(start) + step; i >= 0 && i < std::ssize(candidates); i += step) {
            const SegmentChoice next = pipeline.of(candidates[static_cast<std::size_t>(i)]);
            const bool is_better =
                step > 0 ? next.seconds <= best.seconds * as_good : next.seconds * as_good < best.seconds;
            if (is_better) best = next;
            else if (!every_one) break;
        }
    }
    return best.seconds * worth_leaving_standard <= standard.seconds ? best : standard;
}

/// What `body(pipeline)` finds on all ranks, or on the largest group that the budget allows; nothing if there is none.
template <class Body>
std::optional<SegmentChoice> on_affordable_group(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                                 std::span<const Setting> settings, const CostModel& costs,
                                                 Count budget, Body&& body) {
    std::vector<Rank> sizes = {facts.size};
    for (const Rank group : groups_of(algorithm)) {
        if (group < facts.size) sizes.push_back(group);
    }
    Pipeline pipeline(algorithm, facts, settings, costs);
    for (const Rank size : sizes) {
        for (const Samples& with : samples_of(algorithm)) {
            if (!pipeline.represent(size, with, budget)) continue;
            const SegmentChoice found = body(pipeline);
            if (pipeline.could_run()) return found;
        }
    }
    return std::nullopt;
}

std::size_t index_of_standard(std::span<const Count> candidates, Count standard) {
    const auto found = std::lower_bound(candidates.begin(), candidates.end() - 1, standard);
    return static_cast<std::size_t>(found - candidates.begin());
}

/// What is taken where nothing can be timed.
SegmentChoice standard_choice(const SharedFacts& stream, std::span<const Count> candidates, Count standard) {
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
    for (auto segment = std::max(shortest_candidate, static_cast<Count>(std::bit_ceil(element))); segment < bytes;
         segment *= 2) {
        if (segments_of(facts, segment) <= most_segments) candidates.push_back(segment);
    }
    candidates.push_back(bytes);
    return candidates;
}

SegmentChoice best_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                           const CostModel& costs, Count budget) {
    const Count begin = standard_within(costs.eager);
    const std::vector<Count> candidates = candidate_segments(algorithm, facts);
    const SegmentChoice standard = standard_choice(stream_of(algorithm, facts), candidates, begin);
    // What is refused for another reason than its segments has no schedule that could be run.
    if (candidates.size() == 1 || facts.count == 0 || is_refused(algorithm, facts, settings, standard.segment))
        return standard;

    const auto found = on_affordable_group(algorithm, facts, settings, costs, budget, [&](Pipeline& all) {
        return best_of(candidates, index_of_standard(candidates, begin), all);
    });
    return found.value_or(standard);
}

SegmentChoice time_of_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                              std::span<const Setting> settings, Count segment, const CostModel& costs, Count budget) {
    const SegmentChoice untimed{segment, segments_of(stream_of(algorithm, facts), segment), 0, Basis::standard};
    if (facts.count == 0 || is_refused(algorithm, facts, settings, segment)) return untimed;
    const auto found = on_affordable_group(algorithm, facts, settings, costs, budget,
                                           [&](Pipeline& pipeline) { return pipeline.of(segment); });
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
