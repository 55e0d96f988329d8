// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the root gives the ranks of its node an even share of what every node gets, each of them scatters its
// share over its lane. [traff2020kported], section 2.2; there is a last step, in which the ranks of a node exchange
// what is another's, so that nodes and parts of any length share the lanes evenly: where all are alike, there is
// nothing to exchange. Long vectors, on nodes of several ranks. Rounds on N nodes of n ranks: ceil(log2 n) + ceil(log2
// N); all lanes together carry m (N - 1) / N from the root's node, the least that is possible. The root copies the
// vector once, sorted by lanes.
#include <algorithm>

#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/lane_shares.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"

namespace rondo::scatter {

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    const NodeOrder order(call, call.parts(call.input()));
    const LaneShares shares(call, order);

    const Block elsewhere(0, call.count(), Buffer::input);  // means nothing, but has the length
    Block vector = call.input();
    if (r == root && !call.nodes_in_rank_order()) {
        vector = call.scratch();
        Schedule by_nodes = sort_by_nodes(call, call.parts(call.input()), vector);
        co_yield steps_of(by_nodes);
    }
    if (r == root && !shares.in_order()) {
        const Block sorted = vector;
        vector = call.scratch();
        Schedule by_lanes = sort_by_lanes(call, shares, sorted, vector);
        co_yield steps_of(by_lanes);
    }
    Block share = elsewhere.part(0, shares.in_lane().back());
    if (own_node == root_node) {
        share = r == root ? shares.of(vector, number) : call.scratch(share.count);
        const Call giving = call.on_node(vector, share, {.root = root_number, .starts = shares.on_node()});
        Schedule on_node = binomial(giving);
        co_yield steps_of(on_node);
    }

    // In place, the root's part is where it belongs, and nobody writes there.
    const Block result = call.in_place() ? call.scratch(call.output().count) : call.output();
    const Block node = order.of_node(elsewhere, own_node);
    const LaneParts cut(call, node);
    const bool is_own = std::ranges::equal(cut.starts(), order.ranks());
    const Block part = is_own ? result : call.scratch(cut.own().count);
    if (cut.takes_part()) {
        const Call across = call.on_lane(share, part, {.root = root_node, .starts = shares.in_lane()});
        Schedule lane = binomial(across);
        co_yield steps_of(lane);
    }
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
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::scatter
