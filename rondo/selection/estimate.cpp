// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/estimate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {
namespace {

using virtual_machine::CostModel;
using virtual_machine::Problem;
using virtual_machine::Timing;

constexpr Rank fewest_nodes = 2;      // of three runs
constexpr Rank many_nodes = 32;       // from so many on, each run is on four times as many nodes
constexpr Rank fewest_ranks = 16;     // that are tried where more have too many messages
constexpr Rank fewest_on_node = 4;    // the same of a node
constexpr Count fewest_segments = 8;  // the same of a pipeline
constexpr Rank fewest_nodes_of_ring = 4;
// Where the nodes become four times as many, nothing grows faster than with their number.
constexpr double fastest_growth = 4;
// A growth between these is that of a tree, whose height goes up by one now and then.
constexpr double saturating = 0.5, accelerating = 2;

/// Nodes that are all alike, as many as there are and about as full.
struct Nodes {
    Rank number, ranks;  ///< of nodes, and on each

    [[nodiscard]] Rank size() const { return number * ranks; }
    [[nodiscard]] static Nodes of(const SharedFacts& facts) {
        if (facts.placement == nullptr) return {facts.size, 1};
        const Rank number = facts.placement->nodes();
        return {number, (facts.size + number - 1) / number};
    }
};

/// A call on other nodes, of whose data as much leaves each node.
class CallElsewhere {
  public:
    CallElsewhere(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                  const CostModel& costs, Rank on_node)
        : algorithm_(algorithm), facts_(facts), settings_(settings), costs_(costs), on_node_(on_node) {
        facts_.root = 0;
        facts_.starts = {};
        const Rank before = Nodes::of(facts).ranks;
        if (facts.input != Share::own || on_node >= before) return;
        // A node of an all-to-all sends what all of its ranks have. Inside, each does what several did.
        const double fewer = double(before) / on_node;
        facts_.count = static_cast<Count>(double(facts.count) * fewer);
        if (costs_.inside) costs_.inside->beta /= fewer;
    }

    [[nodiscard]] std::optional<double> seconds(Rank nodes, const EstimateLimits& limits) const {
        const Placement placement = Placement::regular(nodes, on_node_);
        SharedFacts facts = facts_;
        facts.size = placement.size();
        facts.placement = &placement;
        if (facts.input == Share::own) facts.count = std::max<Count>(1, facts.count / facts.size) * facts.size;
        const Count segments = std::max<Count>(1, segments_in(facts));
        if (segments <= limits.segments) return run(facts, limits.messages);
        const auto of_segments = [&](Count number) {
            SharedFacts first = facts;
            first.count = facts.count * number / segments;
            return run(first, limits.messages);
        };
        const auto all = of_segments(limits.segments), half = of_segments(limits.segments / 2);
        if (!all || !half) return std::nullopt;
        // A pipeline that is full takes as long for every further segment.
        const Count half_as_many = limits.segments / 2, further = segments - limits.segments;
        const double each = (*all - *half) / static_cast<double>(half_as_many);
        return *all + each * static_cast<double>(further);
    }

  private:
    [[nodiscard]] Count segments_in(const SharedFacts& facts) const {
        for (const Setting& setting : settings_) {
            if (setting.name != segment_parameter.name) continue;
            return segments_of(virtual_machine::stream_of(algorithm_, facts), setting.value);
        }
        return 1;
    }
    [[nodiscard]] std::optional<double> run(const SharedFacts& facts, Count messages) const {
        if (algorithm_.refusal(facts, settings_)) return std::nullopt;
        const Problem problem{algorithm_, facts, settings_};
        if (auto node = Timing::of_one_node(problem, {}, messages)) {
            if (const auto seconds = node->time_if_it_ends(costs_, facts.element_bytes)) return seconds;
        }
        auto timing = Timing::of(problem, {}, messages);
        if (!timing) return std::nullopt;
        return timing->time(costs_, facts.element_bytes);
    }

    const AlgorithmInfo& algorithm_;
    SharedFacts facts_;
    std::span<const Setting> settings_;
    CostModel costs_;
    Rank on_node_;
};

/// Seconds that `steps` further steps to more nodes add, after three runs on more and more nodes.
double further_steps(double first, double second, double third, double steps) {
    const double before = second - first, last = third - second;
    if (before <= 0 || last <= 0) return 0;
    const double growth = std::min(last / before, fastest_growth);
    if (growth > saturating && growth < accelerating) return (third - first) / 2 * steps;
    return last * growth * (std::pow(growth, steps) - 1) / (growth - 1);
}

std::optional<double> on_fewer_nodes(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                     std::span<const Setting> settings, const CostModel& costs,
                                     const EstimateLimits& limits) {
    const Nodes all = Nodes::of(facts);
    Rank on_node = all.ranks;
    while (on_node > limits.on_node) on_node = (on_node + 1) / 2;
    const CallElsewhere call(algorithm, facts, settings, costs, on_node);
    const Rank affordable = std::max(4 * fewest_nodes, limits.ranks / on_node);
    if (all.number <= affordable) return call.seconds(all.number, limits);
    const auto most = static_cast<Rank>(std::bit_floor(static_cast<unsigned>(affordable)));
    const Rank factor = most >= many_nodes ? 4 : 2;
    const auto third = call.seconds(most, limits);
    if (!third) return std::nullopt;
    const auto second = call.seconds(most / factor, limits), first = call.seconds(most / factor / factor, limits);
    if (!first || !second) return std::nullopt;
    const double steps = std::log2(double(all.number) / most) / std::log2(double(factor));
    return *third + further_steps(*first, *second, *third, steps);
}

/// A ring of all ranks takes as long for each round, in which each passes a part on. Its messages grow with the square
/// of the ranks.
std::optional<double> on_smaller_ring(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                      std::span<const Setting> settings, const CostModel& costs,
                                      const EstimateLimits& limits) {
    Nodes few = Nodes::of(facts);
    const auto is_affordable = [&] { return Count{few.size()} * few.size() <= limits.messages; };
    while (!is_affordable() && few.number > fewest_nodes_of_ring) few.number = (few.number + 1) / 2;
    while (!is_affordable() && few.ranks > 2) few.ranks = (few.ranks + 1) / 2;
    SharedFacts equal_parts = facts;
    equal_parts.count = std::max<Count>(1, facts.count / facts.size) * few.size();
    EstimateLimits all_rounds = limits;
    all_rounds.messages *= 8;  // an allreduce has two rounds with each part, and parts are cut into segments
    const CallElsewhere ring(algorithm, equal_parts, settings, costs, few.ranks);
    const auto seconds = ring.seconds(few.number, all_rounds);
    if (!seconds) return std::nullopt;
    return *seconds * (facts.size - 1) / (few.size() - 1);
}

}  // namespace

std::optional<double> estimated_seconds(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                        std::span<const Setting> settings, const CostModel& costs,
                                        const EstimateLimits& limits) {
    const Nodes all = Nodes::of(facts);
    if (facts.size <= limits.ranks) {
        const CallElsewhere itself(algorithm, facts, settings, costs, all.ranks);
        if (const auto found = itself.seconds(all.number, limits)) return found;
    }
    if (algorithm.has_segments_of_parts && !algorithm.uses_nodes) {
        return on_smaller_ring(algorithm, facts, settings, costs, limits);
    }
    for (EstimateLimits less = limits; less.ranks >= fewest_ranks; less.ranks /= 2) {
        if (const auto found = on_fewer_nodes(algorithm, facts, settings, costs, less)) return found;
        less.on_node = std::max(fewest_on_node, less.on_node / 2);
        less.segments = std::max(fewest_segments, less.segments / 2);
    }
    return std::nullopt;
}

}  // namespace rondo
