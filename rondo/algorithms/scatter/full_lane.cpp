// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the root gives the ranks of its node an even share of what every node gets, each of them scatters its
// share over its lane. [traff2020kported], section 2.2; there is a last step, in which the ranks of a node exchange
// what is another's, so that nodes and parts of any length share the lanes evenly: where all are alike, there is
// nothing to exchange. On nodes of several ranks. All lanes together carry m (N - 1) / N from the root's node, the
// least that is possible. Short vectors take ceil(log2 n) + ceil(log2 N) rounds on N nodes of n ranks, and the root
// copies them once, sorted by lanes. Of long ones the root gives out what one node gets after the other, straight from
// where it stands, and it leaves at once: so the lanes do not wait for the node, but for the first of these.
#include <algorithm>

#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/lane_shares.hpp"
#include "rondo/algorithms/patterns/overlap.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {
namespace {

/// `vector` is sorted by nodes, and means something on the root alone; `part` is what the lane of this rank brings it.
struct Operands {
    const NodeOrder& order;
    Block vector, part;
};

/// The whole share of each lane, then the lanes.
Schedule at_once(const Call& call, const Operands& of) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    const LaneShares shares(call, of.order);
    Block vector = of.vector;
    if (r == root && !shares.in_order()) {
        vector = call.scratch();
        Schedule by_lanes = sort_by_lanes(call, shares, of.vector, vector);
        co_yield steps_of(by_lanes);
    }
    Block share(0, shares.in_lane().back(), Buffer::input);  // means nothing, but has the length
    if (own_node == root_node) {
        share = r == root ? shares.of(vector, number) : call.scratch(share.count);
        const Call giving = call.on_node(vector, share, {.root = root_number, .starts = shares.on_node()});
        Schedule on_node = binomial(giving);
        co_yield steps_of(on_node);
    }
    if (number < call.lanes()) {
        const Call across = call.on_lane(share, of.part, {.root = root_node, .starts = shares.in_lane()});
        Schedule lane = binomial(across);
        co_yield steps_of(lane);
    }
}

/// What goes to one node after the other, the root's own last.
Schedule node_by_node(const Call& call, const Operands& of) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    if (own_node != root_node) {
        if (number < call.lanes()) co_yield exchange(receive(of.part, call.rank_at(root_node, number)));
        co_return;
    }
    for (Rank distance = 1; distance <= call.nodes(); ++distance) {
        const Rank node = (root_node + distance) % call.nodes();
        const Block all = of.order.of_node(of.vector, node);
        const LaneParts cut(call, all);
        Block share = of.part;
        if (node != root_node) share = r == root ? cut.own() : call.scratch(cut.own().count);
        const Call giving = call.on_node(all, share, {.root = root_number, .starts = cut.starts()});
        Schedule on_node = linear(giving);
        co_yield steps_of(on_node);
        if (node != root_node && cut.takes_part()) co_yield exchange(send(share, call.rank_at(node, number)));
    }
}

}  // namespace

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first;
    const NodeOrder order(call, call.parts(call.input()));
    const Block elsewhere(0, call.count(), Buffer::input);  // means nothing, but has the length
    Block vector = r == call.facts().root ? call.input() : elsewhere;
    if (r == call.facts().root && !call.nodes_in_rank_order()) {
        vector = call.scratch();
        Schedule by_nodes = sort_by_nodes(call, call.parts(call.input()), vector);
        co_yield steps_of(by_nodes);
    }

    // In place, the root's part is where it belongs, and nobody writes there.
    const Block result = call.in_place() ? call.scratch(call.output().count) : call.output();
    const Block node = order.of_node(elsewhere, call.place(r).node);
    const LaneParts cut(call, node);
    const bool is_own = std::ranges::equal(cut.starts(), order.ranks());
    const Block part = is_own ? result : call.scratch(cut.own().count);
    const Operands operands{order, vector, part};
    Schedule lanes = overlaps(call) ? node_by_node(call, operands) : at_once(call, operands);
    co_yield steps_of(lanes);
    if (is_own) co_return;
    const Call exchanging = call.on_node(part, result, {});
    const Parts own(node, call.ranks_on_node(), order.ranks());
    Schedule on_node = divide_anew(exchanging, cut.on_node(), part, own, result);
    co_yield steps_of(on_node);
}

const AlgorithmInfo full_lane_info = {
    .collective = "scatter",
    .name = "full_lane",
    .summary = "scatter on the root's node, then on lanes: for long vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .parameters = {&overlap_parameter, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::scatter
