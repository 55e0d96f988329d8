// SPDX-License-Identifier: BSD-3-Clause
// Full lane: the scatter of this name backwards. The ranks of a node share what they have evenly among the lanes, each
// lane gathers on the root's node, and the root collects there. [traff2020kported], section 2.2. Long vectors, on nodes
// of several ranks. Rounds on N nodes of n ranks, where nodes and parts are alike: ceil(log2 n) + ceil(log2 N); all
// lanes together carry m (N - 1) / N to the root's node, the least that is possible. The root copies the vector once,
// sorted by lanes until then.
#include <algorithm>

#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/patterns/lane_parts.hpp"
#include "rondo/algorithms/patterns/lane_shares.hpp"

namespace rondo::gather {

Schedule full_lane(const Call& call) {
    const Rank r = call.ranks().first, root = call.facts().root;
    const auto [root_node, root_number] = call.place(root);
    const auto [own_node, number] = call.place(r);
    const NodeOrder order(call, call.parts(call.output()));
    const LaneShares shares(call, order);

    const Block elsewhere(0, call.count(), Buffer::output);  // means nothing, but has the length
    const Block node = order.of_node(elsewhere, own_node);
    const LaneParts cut(call, node);
    const bool is_own = std::ranges::equal(cut.starts(), order.ranks());
    const Block part = is_own ? call.input() : call.scratch(cut.own().count);
    if (!is_own) {
        const Call exchanging = call.on_node(call.input(), part, {});
        const Parts own(node, call.ranks_on_node(), order.ranks());
        Schedule on_node = divide_anew(exchanging, own, call.input(), cut.on_node(), part);
        co_yield steps_of(on_node);
    }

    const Block result = call.output();
    const Block sorted = r == root && !call.nodes_in_rank_order() ? call.scratch() : result;
    const Block vector = r == root && !shares.in_order() ? call.scratch() : sorted;
    Block share = elsewhere.part(0, shares.in_lane().back());
    if (own_node == root_node) share = r == root ? shares.of(vector, number) : call.scratch(share.count);
    if (cut.takes_part()) {
        const Call across = call.on_lane(part, share, {.root = root_node, .starts = shares.in_lane()});
        Schedule lane = binomial(across);
        co_yield steps_of(lane);
    }
    if (own_node == root_node) {
        const Call collecting = call.on_node(share, vector, {.root = root_number, .starts = shares.on_node()});
        Schedule on_node = binomial(collecting);
        co_yield steps_of(on_node);
    }
    if (r == root && !shares.in_order()) {
        Schedule from_lanes = sort_from_lanes(call, shares, vector, sorted);
        co_yield steps_of(from_lanes);
    }
    if (r == root && !call.nodes_in_rank_order()) {
        Schedule by_ranks = sort_by_ranks(call, sorted, call.parts(result));
        co_yield steps_of(by_ranks);
    }
}

const AlgorithmInfo full_lane_info = {
    .collective = "gather",
    .name = "full_lane",
    .summary = "gather on lanes, then on the root's node: for long vectors on nodes of many ranks",
    .citation = "traff2020kported",
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::gather
