// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the scatter of this name backwards. The ranks of a node share what they have evenly among the lanes, each
// lane gathers on the root's node, and the root collects there. [traff2020kported], section 2.2. On nodes of several
// ranks. All lanes together carry m (N - 1) / N to the root's node, the least that is possible. Short vectors take
// ceil(log2 n) + ceil(log2 N) rounds on N nodes of n ranks, where nodes and parts are alike, and the root copies them
// once, sorted by lanes until then. Of long ones the root collects what one node has after the other, where it belongs,
// while the lanes bring the next.
#include <algorithm>

#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/lane_shares.hpp"
#include "rondo/algorithms/patterns/overlap.hpp"

namespace rondo::gather {
namespace {

/// `vector` is sorted by nodes, and means something on the root alone; `part` is what the lane of this rank takes.
struct Operands {
    const NodeOrder& order;
    Block part, vector;
};

/// The lanes, then the whole share of each.
Schedule at_once(const Call& call, const Operands& of) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    const LaneShares shares(call, of.order);
    const Block vector = r == root && !shares.in_order() ? call.scratch() : of.vector;
    Block share(0, shares.in_lane().back(), Buffer::output);  // means nothing, but has the length
    if (own_node == root_node) share = r == root ? shares.of(vector, number) : call.scratch(share.count);
    if (number < call.lanes()) {
        const Call across = call.on_lane(of.part, share, {.root = root_node, .starts = shares.in_lane()});
        Schedule lane = binomial(across);
        co_yield steps_of(lane);
    }
    if (own_node == root_node) {
        const Call collecting = call.on_node(share, vector, {.root = root_number, .starts = shares.on_node()});
        Schedule on_node = binomial(collecting);
        co_yield steps_of(on_node);
    }
    if (r == root && !shares.in_order()) {
        Schedule from_lanes = sort_from_lanes(call, shares, vector, of.vector);
        co_yield steps_of(from_lanes);
    }
}

/// What comes from one node after the other, the root's own first. The lanes are asked for the next before the node is
/// for this one: a long message that waits in front would hold that one back.
Schedule node_by_node(const Call& call, const Operands& of) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    if (own_node != root_node) {
        if (number < call.lanes()) co_yield exchange(send(of.part, call.rank_at(root_node, number)));
        co_return;
    }
    Block share = of.part;  // of the node at this distance
    for (Rank distance = 0; distance < call.nodes(); ++distance) {
        const Rank node = (root_node + distance) % call.nodes(), next = (node + 1) % call.nodes();
        Block coming;
        if (next != root_node) {
            const LaneParts cut(call, of.order.of_node(of.vector, next));
            coming = r == root ? cut.own() : call.scratch(cut.own().count);
            if (cut.takes_part()) co_yield exchange(receive(coming, call.rank_at(next, number)));
        }
        const Block all = of.order.of_node(of.vector, node);
        const LaneParts cut(call, all);
        const Call collecting = call.on_node(share, all, {.root = root_number, .starts = cut.starts()});
        Schedule on_node = linear(collecting);
        co_yield steps_of(on_node);
        share = coming;
    }
}

}  // namespace

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first;
    const NodeOrder order(call, call.parts(call.output()));
    const Block elsewhere(0, call.count(), Buffer::output);  // means nothing, but has the length
    const Block node = order.of_node(elsewhere, call.place(r).node);
    const LaneParts cut(call, node);
    const bool is_own = std::ranges::equal(cut.starts(), order.ranks());
    const Block part = is_own ? call.input() : call.scratch(cut.own().count);
    if (!is_own) {
        const Call exchanging = call.on_node(call.input(), part, {});
        const Parts own(node, call.ranks_on_node(), order.ranks());
        Schedule on_node = divide_anew(exchanging, own, call.input(), cut.on_node(), part);
        co_yield steps_of(on_node);
    }

    const bool is_sorted_last = r == call.facts().root && !call.nodes_in_rank_order();
    Block vector = elsewhere;
    if (r == call.facts().root) vector = is_sorted_last ? call.scratch() : call.output();
    const Operands operands{order, part, vector};
    Schedule lanes = overlaps(call) ? node_by_node(call, operands) : at_once(call, operands);
    co_yield steps_of(lanes);
    if (is_sorted_last) {
        Schedule by_ranks = sort_by_ranks(call, vector, call.parts(call.output()));
        co_yield steps_of(by_ranks);
    }
}

const AlgorithmInfo full_lane_info = {
    .collective = "gather",
    .name = "full_lane",
    .summary = "gather on lanes, then on the root's node: for long vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .parameters = {&overlap_parameter, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::gather
