// SPDX-License-Identifier: BSD-3-Clause
// Full lane: a reduce-scatter on each node, a reduction to the root's node on each lane, a gather on the root's node.
// [traff2020decomposing], section 2. Long vectors, on nodes of several ranks: in pieces, so that these phases overlap.
// Every part leaves each node once. The pieces cross the lanes as the blocks of one circulant graph reduction, or, if
// the operator does not commute, from node to node.
#include <algorithm>
#include <optional>

#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/circulant.hpp"

namespace rondo::reduce {
namespace {

/// A circulant graph reduction on a lane, one round after the other, while the nodes work on other pieces. Messages
/// leave in the order of rounds: in that of pieces, several would come to a node at once, and others to none.
class LaneRounds {
  public:
    /// `kept`: pieces that nodes and lanes work on at a time.
    LaneRounds(const Call& call, const LaneParts& parts, Rank root_node, Count pieces, Count kept)
        : across_(call.on_lane(parts.own(), parts.own(), {.root = root_node})), steps_(across_, pieces),
          sums_(call, kept, parts.own().count, steps_.size()) {}

    [[nodiscard]] CirculantSums& sums() { return sums_; }
    /// By its number, from the first that is run.
    [[nodiscard]] Schedule round(Count number) {
        return circulant_round(across_, steps_, steps_.size() - 1 - number, sums_);
    }
    [[nodiscard]] bool has(Count number) const { return number >= 0 && number < steps_.size(); }

  private:
    Call across_;
    CirculantSteps steps_;
    CirculantSums sums_;
};

}  // namespace

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first;
    const auto [root_node, root_number] = call.place(call.facts().root);
    const bool is_on_root_node = call.place(r).node == root_node, commutative = call.commutative();
    const Segments pieces = lane_segments(call, call.input());
    const Segments results = lane_segments(call, Block(0, call.count(), Buffer::output));  // exists on the root only
    if (pieces.size() == 0) co_return;
    const LaneParts largest(call, Block(0, results.largest(), Buffer::output));
    const Count count = largest.own().count;
    const Count rounds = topology::CirculantSkips(call.nodes()).rounds();  // that a block takes
    // The same on all ranks, in lanes or not, since ranks of a node keep the order of their messages.
    const Count on_the_way = pieces_ahead + (commutative ? 2 * rounds : 0);
    const Count kept = std::min(on_the_way + 1, pieces.size());
    std::optional<LaneRounds> lane;
    if (commutative && rounds > 0 && largest.takes_part()) lane.emplace(call, largest, root_node, pieces.size(), kept);
    const Block ring = call.scratch(2 * count * kept);
    const auto slot = [&](Count number, Count length) { return ring.part(number % (2 * kept) * count, length); };
    const auto sum_of = [&](Count piece, const LaneParts& parts) {
        return r == call.facts().root ? parts.own() : slot(2 * piece + 1, parts.own().count);
    };
    ScratchTurns scratch(call);
    for (Count i = 0; i < pieces.size() + on_the_way; ++i) {
        scratch.next();
        if (i < pieces.size()) {
            const LaneParts parts(call, results[i]);
            const Block summand = slot(2 * i, parts.own().count), sum = sum_of(i, parts);
            const Call reducing = call.on_node(pieces[i], summand, {.starts = parts.starts()});
            Schedule reduce_scatter = reduce_scatter::circulant_or_pairwise(reducing);
            co_yield steps_of(reduce_scatter);
            if (lane) lane->sums().begin(pieces.size() - 1 - i, summand, sum);
            if (!lane && parts.takes_part()) {
                const Call across = call.on_lane(summand, sum, {.root = root_node});
                Schedule from_node_to_node = linear_pipeline(across);
                co_yield steps_of(from_node_to_node);
            }
        }
        if (lane && lane->has(i - rounds)) {
            Schedule round = lane->round(i - rounds);
            co_yield steps_of(round);
        }
        const Block result = results.at(i - on_the_way);
        if (!is_on_root_node || result.empty()) continue;
        const LaneParts parts(call, result);
        const Call collecting =
            call.on_node(sum_of(i - on_the_way, parts), result, {.root = root_number, .starts = parts.starts()});
        Schedule gathering = gather::linear(collecting);
        co_yield steps_of(gathering);
    }
}

constexpr Requirement requirements[] = {rank_order_requirement, segment_requirement};

const AlgorithmInfo full_lane_info = {
    .collective = "reduce",
    .name = "full_lane",
    .summary =
        "reduce-scatter on nodes, a reduction on each lane, a gather on the root's node: for long vectors on nodes of "
        "many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::reduce
