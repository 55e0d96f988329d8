// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/node_scans.hpp"

#include <optional>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/leaders.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/scan/scan.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {
namespace {

/// The call where nodes are in rank order.
class InRankOrder {
  public:
    explicit InRankOrder(const Call& call)
        : runs_(call.nodes_in_rank_order() ? std::nullopt : std::optional(call.facts().placement->runs())),
          call_(call.on(call.input(), call.output(), runs_ ? &*runs_ : call.facts().placement)) {}

    [[nodiscard]] const Call& call() const { return call_; }

  private:
    std::optional<Placement> runs_;
    Call call_;
};

/// Puts the sum of all that comes before the node before what this rank has of its node: `result`. An exclusive scan
/// has nothing yet on the first rank of a node.
Schedule put_before(const Call& call, ScanKind kind, Block before, Block result) {
    const bool has_nothing = kind == ScanKind::exclusive && call.place(call.ranks().first).number == 0;
    if (has_nothing) co_yield copy(before).into(result);
    else co_yield combine(before, result).into(result);
}

constexpr Alternative lanes[] = {{"cyclic_doubling", exscan::cyclic_doubling},
                                 {"doubling_123", exscan::doubling_123},
                                 {"one_doubling", exscan::one_doubling},
                                 {"two_op_doubling", exscan::two_op_doubling}};

}  // namespace

constexpr Parameter leaders_scan_lane = part_parameter("lane", "the exclusive scan of the leaders", lanes);

Schedule leaders_scan(const Call& whole, ScanKind kind) {
    const InRankOrder in_order(whole);
    const Call& call = in_order.call();
    const auto [node, number] = call.place(call.ranks().first);
    const Leaders leaders = Leaders::last_ranks(call);
    const Block result = call.output();
    const Call on_node = call.on_node(call.input(), result, {});
    Schedule scan = kind == ScanKind::inclusive ? scan::doubling(on_node) : exscan::cyclic_doubling(on_node);
    co_yield steps_of(scan);

    const Block before = call.scratch();
    if (leaders.lead()) {
        Block sum = kind == ScanKind::inclusive ? result : call.input();
        if (kind == ScanKind::exclusive && number > 0) {
            sum = call.scratch();
            co_yield combine(result, call.input()).into(sum);
        }
        const Call across = leaders.on(call, sum, before, {});
        Schedule between_nodes = leaders_scan_lane.part(across);
        co_yield steps_of(between_nodes);
    }
    if (node == 0) co_return;
    const Call telling = call.on_node(before, before, {.root = leaders.number()});
    Schedule broadcast = bcast::binomial(telling);
    co_yield steps_of(broadcast);
    Schedule last = put_before(call, kind, before, result);
    co_yield steps_of(last);
}

Schedule full_lane_scan(const Call& whole, ScanKind kind) {
    const InRankOrder in_order(whole);
    const Call& call = in_order.call();
    const bool is_first_node = call.place(call.ranks().first).node == 0;
    const Segments inputs = lane_segments(call, call.input()), outputs = lane_segments(call, call.output());
    ScratchTurns scratch(call);
    PiecesAhead prefixes;
    for (Count i = 0; i < inputs.size() + pieces_ahead; ++i) {
        scratch.next();
        if (i < inputs.size()) {
            prefixes[i] = call.scratch(inputs[i].count);
            const LaneParts parts(call, prefixes[i]);
            const Block sum = call.scratch(parts.own().count);
            const Call reducing = call.on_node(inputs[i], sum, {.starts = parts.starts()});
            Schedule reduce_scatter = reduce_scatter::circulant_or_pairwise(reducing);
            co_yield steps_of(reduce_scatter);
            if (parts.takes_part()) {
                const Call across = call.on_lane(sum, parts.own(), {});
                Schedule between_nodes = exscan::linear_pipeline(across);
                co_yield steps_of(between_nodes);
            }
            const Call on_node = call.on_node(inputs[i], outputs[i], {});
            Schedule scan =
                kind == ScanKind::inclusive ? scan::linear_pipeline(on_node) : exscan::linear_pipeline(on_node);
            co_yield steps_of(scan);
        }
        const Block result = outputs.at(i - pieces_ahead);
        if (is_first_node || result.empty()) continue;
        const Block before = prefixes[i - pieces_ahead];
        const LaneParts parts(call, before);
        const Call gathering = call.on_node(parts.own(), before, {.starts = parts.starts()});
        Schedule allgather = allgather::circulant(gathering);
        co_yield steps_of(allgather);
        Schedule last = put_before(call, kind, before, result);
        co_yield steps_of(last);
    }
}

}  // namespace rondo
