// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/load.hpp"

#include <algorithm>

#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {
namespace {

using virtual_machine::CostModel;
using virtual_machine::NodesOf;
using virtual_machine::Problem;

constexpr Count seen_segments = 2;
constexpr Rank seen_on_node = 64;

/// Bytes of messages one way.
struct Traffic {
    double inside = 0, outside = 0;
};

/// What a rank has to do.
struct Load {
    Traffic out, in;
    double seconds = 0;  ///< of the processor
};

class Busiest {
  public:
    Busiest(const Problem& problem, const CostModel& costs) : problem_(problem), costs_(costs), nodes_(problem.facts) {}

    [[nodiscard]] double seconds() const { return seconds_; }

    void see_node(Rank node) {
        const Rank ranks = nodes_.are_shared() ? problem_.facts.placement->on_node(node).size() : 1;
        const Rank seen = std::min(ranks, seen_on_node);
        const double each = double(ranks) / seen;  // ranks that one stands for
        double out = 0, in = 0;
        for (Rank i = 0; i < seen; ++i) {
            const auto index = static_cast<Rank>(i * each);
            const Load load = see_rank(nodes_.are_shared() ? problem_.facts.placement->on_node(node)(index) : node);
            out += each * load.out.outside;
            in += each * load.in.outside;
        }
        if (!costs_.own_wires) add(std::max(out, in) * costs_.beta / costs_.lanes);
    }

    Load see_rank(Rank rank) {
        const Load load = load_of(rank);
        add(load.seconds);
        if (costs_.inside) add(std::max(load.out.inside, load.in.inside) * costs_.inside->beta);
        if (costs_.own_wires) add(std::max(load.out.outside, load.in.outside) * costs_.beta);
        return load;
    }

  private:
    void add(double seconds) { seconds_ = std::max(seconds_, seconds); }

    [[nodiscard]] Load load_of(Rank rank) const {
        const auto call = problem_.call(rank);
        Schedule schedule = schedule_of(*call, problem_.algorithm);
        const auto beside = nodes_.beside(rank);
        const auto bytes = [this](const Block& block) {
            return double(block.count) * double(problem_.facts.element_bytes);
        };
        Load load;
        while (const Step* step = schedule.next()) {
            if (step->kind == StepKind::combine) load.seconds += bytes(step->left) * costs_.gamma;
            if (step->kind != StepKind::exchange) continue;
            for (const Transfer& transfer : step->transfers) {
                const Rank peer = step->peer(transfer);
                if (peer == no_rank) continue;
                const bool is_inside = costs_.inside && beside(peer);
                Traffic& traffic = transfer.direction == Direction::send ? load.out : load.in;
                (is_inside ? traffic.inside : traffic.outside) += bytes(transfer.block);
                load.seconds += is_inside ? costs_.inside->overhead : costs_.overhead;
            }
        }
        return load;
    }

    const Problem& problem_;
    const CostModel& costs_;
    NodesOf nodes_;
    double seconds_ = 0;
};

/// The vector of a call with so few segments that it is soon seen.
Count seen_count(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.name != segment_parameter.name) continue;
        const Count segments = segments_of(virtual_machine::stream_of(algorithm, facts), setting.value);
        SharedFacts few = facts;
        few.count = facts.count * seen_segments / std::max(segments, seen_segments) / facts.size * facts.size;
        if (few.count > 0 && !algorithm.refusal(few, settings)) return few.count;
    }
    return facts.count;
}

}  // namespace

double least_seconds(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                     const CostModel& costs) {
    Problem problem{algorithm, facts, settings};
    problem.facts.starts = {};
    problem.facts.count = seen_count(algorithm, facts, settings);
    Busiest busiest(problem, costs);
    busiest.see_rank(facts.root);
    busiest.see_node(0);
    busiest.see_node(NodesOf(facts).size() / 2);
    if (problem.facts.count == 0) return busiest.seconds();
    return busiest.seconds() * static_cast<double>(facts.count) / static_cast<double>(problem.facts.count);
}

}  // namespace rondo
