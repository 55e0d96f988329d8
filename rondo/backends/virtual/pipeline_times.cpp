// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/pipeline_times.hpp"

#include <bit>
#include <functional>
#include <limits>

#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

// What stands for more ranks than can be run: the largest group that is affordable.
constexpr Rank groups_of_ranks[] = {32, 16, 8};
constexpr Rank groups_with_parts[] = {6, 4, 3};
constexpr Rank groups_of_compositions[] = {16, 8, 6, 4};
// So many are on two nodes: what crosses lanes does so in one step, which says little of several.
constexpr Rank two_nodes = 4;
// How many actions there are to a segment is seen on the smallest group, with so many.
constexpr Count seen_segments = 4;
// With so many, it shows how the way of the first segment grows with the ranks: as a chain, as a tree.
constexpr Rank many_ranks = 32;
// No way grows faster with their doubling than a chain, but a step to other nodes looks as if it did.
constexpr double fastest_growth = 2;
// On each node where some ranks stand for more, unless the nodes are fewer.
constexpr Rank few_on_node = 2;

/// Of collectives on nodes and lanes: what they cut is a share of a piece of the vector, and pieces are what travels.
bool is_composition(const AlgorithmInfo& algorithm) { return algorithm.uses_nodes; }

/// Each rank's part goes round.
bool is_cycle(const AlgorithmInfo& algorithm) { return algorithm.has_segments_of_parts && !is_composition(algorithm); }

std::span<const Rank> smaller_groups(const AlgorithmInfo& algorithm) {
    if (is_composition(algorithm)) return groups_of_compositions;
    if (is_cycle(algorithm)) return groups_with_parts;
    return groups_of_ranks;
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

/// Inside a node, every rank sends and receives all but its own part of what the node works on.
double share_that_moves(const Placement& placement) { return 1 - 1.0 / placement.most_on_node(); }

/// Lanes among which a composition deals out a piece of the vector, a segment to each.
Count lanes_of(const AlgorithmInfo& algorithm, const Placement* placement) {
    return placement == nullptr || algorithm.cuts_whole_vector ? 1 : placement->lanes();
}

}  // namespace

Count shares_of(const AlgorithmInfo& algorithm, const SharedFacts& facts) {
    if (algorithm.has_segments_of_parts) return facts.size;
    return algorithm.uses_nodes ? lanes_of(algorithm, facts.placement) : 1;
}

std::vector<Setting> with_segment(std::span<const Setting> settings, Count bytes) {
    std::vector<Setting> result(settings.begin(), settings.end());
    for (Setting& setting : result) {
        if (setting.name == segment_parameter.name) setting.value = bytes;
    }
    return result;
}

SharedFacts stream_of(const AlgorithmInfo& algorithm, const SharedFacts& facts) {
    SharedFacts stream = facts;
    const Count shares = shares_of(algorithm, facts);
    stream.count = (facts.count + shares - 1) / shares;
    return stream;
}

PipelineTimes::PipelineTimes(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                             std::span<const Setting> settings, const CostModel& costs)
    : algorithm_(algorithm), facts_(facts), stream_(stream_of(algorithm, facts)), settings_(with_segment(settings, 1)),
      costs_(costs) {}

/// From the largest to the smallest, and each with more samples before fewer. Of compositions, those with more samples
/// first: through several collectives, a pipeline is full late.
std::vector<PipelineTimes::Group> PipelineTimes::groups() const {
    // A chain is full with some segments to a rank: more exactly so, and nearly so where more is not affordable.
    static constexpr Samples samples[] = {{.per_rank = 4, .least = 32}, {.per_rank = 2, .least = 16}};
    // Of every part, where segments are those of parts, whose messages are many.
    static constexpr Samples samples_of_parts[] = {{.per_rank = 0, .least = 8}};
    // Of compositions. A node hands out its first pieces before it takes one back (pieces_ahead).
    static constexpr Samples samples_of_compositions[] = {
        {.per_rank = 0, .least = 32}, {.per_rank = 0, .least = 16}, {.per_rank = 0, .least = 8}};
    std::span<const Samples> affordable = samples;
    if (is_composition(algorithm_)) affordable = samples_of_compositions;
    else if (is_cycle(algorithm_)) affordable = samples_of_parts;

    std::vector<Group> found;
    for (const Samples& with : affordable) found.push_back({facts_.size, with});
    for (const Rank ranks : smaller_groups(algorithm_)) {
        for (const Samples& with : affordable) {
            if (ranks < facts_.size) found.push_back({ranks, with});
        }
    }
    if (is_composition(algorithm_)) {
        const auto worth = [](const Group& group) { return std::pair(group.ranks > two_nodes, group.samples.least); };
        std::ranges::stable_sort(found, std::greater{}, worth);
    }
    return found;
}

/// Whether the group and its samples are worth `budget` actions. From then on times are theirs.
bool PipelineTimes::represent(const Group& group, Count budget) {
    if (actions(group) > static_cast<double>(budget)) return false;
    group_ = group.ranks;
    few_ = group.samples.few(group.ranks);
    more_ = group.samples.more(group.ranks);
    could_run_ = true;
    return true;
}

SegmentTime PipelineTimes::of(Count segment) {
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

/// Of the plans that are made for the samples of a vector that is cut into the shortest segments; seen on a few
/// ranks, from which they grow with the number of messages.
double PipelineTimes::actions(const Group& group) {
    const Rank few = std::min(facts_.size, smaller_groups(algorithm_).back());
    const Timing* seen = timing_on(few, seen_segments);
    if (seen == nullptr) return std::numeric_limits<double>::infinity();
    const auto messages = [&](Rank ranks) {
        if (is_composition(algorithm_)) return double(ranks);
        return double(std::max(1, ranks - 1)) * double(is_cycle(algorithm_) ? ranks : 1);
    };
    const double per_segment = double(seen->actions()) / seen_segments * messages(group.ranks) / messages(few);
    // Few segments are run as they are: so many, half as many, and so on.
    const Count most_segments = segments_of(stream_, shortest_segment);
    return per_segment * static_cast<double>(std::min(group.samples.few(group.ranks) + group.samples.more(group.ranks),
                                                      2 * most_segments));
}

double PipelineTimes::on_group(Count segments, Count bytes) {
    const double seconds = extrapolated(segments, bytes, costs_);
    if (!is_cycle(algorithm_) || segments <= more_) return seconds;
    // In a cycle, few segments wait for the first one to come round, and their number does not show.
    CostModel without_latency = costs_;
    without_latency.alpha = 0;
    if (without_latency.inside) without_latency.inside->alpha = 0;
    return std::max(seconds, extrapolated(segments, bytes, without_latency));
}

double PipelineTimes::extrapolated(Count segments, Count bytes, const CostModel& costs) {
    if (segments <= more_) return run(group_, segments, bytes, costs);
    const double few = run(group_, few_, bytes, costs), more = run(group_, more_, bytes, costs);
    const double each = (more - few) / static_cast<double>(more_ - few_);
    return more + each * static_cast<double>(segments - more_);
}

/// What all ranks take longer than the group: as a single segment does, but that a hop costs more or less in a
/// pipeline that is full.
double PipelineTimes::further_ranks(Count segments, Count bytes) {
    const Rank half = group_ / 2;
    const Count full = std::min(segments, few_);
    const double single = run(group_, 1, bytes, costs_), hops = single - run(half, 1, bytes, costs_);
    const double full_hops = run(group_, full, bytes, costs_) - run(half, full, bytes, costs_);
    const double ratio = hops > 0 ? std::clamp(full_hops / hops, 0.5, 2.0) : 1;
    return (single_segment(bytes) - single) * ratio;
}

/// On all ranks. Beyond `many_ranks`, every doubling of their number takes as much longer than the one before as
/// the last one that was run.
double PipelineTimes::single_segment(Count bytes) {
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

double PipelineTimes::run(Rank ranks, Count segments, Count bytes, const CostModel& costs) {
    const auto [time, is_new] = times_.try_emplace({ranks, segments, bytes, costs.alpha}, 0);
    if (is_new) time->second = new_run(ranks, segments, bytes, costs);
    return time->second;
}

double PipelineTimes::new_run(Rank ranks, Count segments, Count bytes, const CostModel& costs) {
    Timing* timing = timing_on(ranks, segments);
    could_run_ = could_run_ && timing != nullptr;
    if (timing == nullptr) return 0;
    if (!is_composition(algorithm_) || ranks == facts_.size) return timing->time(costs, bytes);
    return time_of_few(ranks, *timing, costs, bytes);
}

/// The pieces of few ranks are as long as those of all: as much goes through their nodes, in as many messages.
double PipelineTimes::time_of_few(Rank ranks, Timing& timing, CostModel costs, Count bytes) const {
    const auto placement = placement_of(ranks, facts_.placement);
    const Placement* few = placement ? &*placement : nullptr;
    const auto of_few = [](Count amount, Count all, Count some) { return (amount * all + some - 1) / some; };
    const Count lanes = lanes_of(algorithm_, facts_.placement), few_lanes = lanes_of(algorithm_, few);
    if (costs.inside && few != nullptr) {
        costs.inside->beta *= share_that_moves(*facts_.placement) / share_that_moves(*few);
    }
    if (costs.eager != no_eager_limit) costs.eager = of_few(costs.eager, lanes, few_lanes);
    if (!algorithm_.has_segments_of_parts) return timing.time(costs, of_few(bytes, lanes, few_lanes));
    // Every phase takes some log2 of the ranks messages.
    const double messages = double(std::bit_width(unsigned(facts_.size))) / std::bit_width(unsigned(ranks));
    costs.overhead *= messages;
    if (costs.inside) costs.inside->overhead *= messages;
    return timing.time(costs, of_few(bytes, facts_.size, ranks));
}

/// Nothing if so many ranks cannot be run.
Timing* PipelineTimes::timing_on(Rank ranks, Count segments) {
    auto found = timings_.find({ranks, segments});
    if (found == timings_.end()) {
        found = timings_.emplace(std::pair(ranks, segments), timing_of(ranks, segments)).first;
    }
    return found->second ? &*found->second : nullptr;
}

std::optional<Timing> PipelineTimes::timing_of(Rank ranks, Count segments) const {
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

}  // namespace rondo::virtual_machine
