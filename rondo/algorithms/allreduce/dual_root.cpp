// SPDX-License-Identifier: BSD-3-Clause
// Dual root: each half of the ranks has a tree whose root gets the half's sum; the two roots exchange their sums, and
// hand the result down. While a segment goes up, an earlier one comes down over the same edge, in one exchange. The
// trees are in order, so sums are in rank order, as they are with the post-order trees of the paper. [traff2021doubly].
// Long vectors. Rounds: about 3*segments + 4*log2 p; time about 3*beta*m. Operations: three per segment.
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo::allreduce {

namespace {

/// A rank's place in the tree of its half.
struct DualTree {
    bool is_lower;
    Rank other_root;  ///< no_rank for who is no root
    topology::InOrderPlace node;

    DualTree(Rank rank, Rank size) {
        const Rank middle = (size + 1) / 2, first = rank < middle ? 0 : middle, last = rank < middle ? middle : size;
        const Rank lower = topology::in_order_root(0, middle - 1), upper = topology::in_order_root(middle, size - 1);
        is_lower = rank < middle;
        const Rank root = is_lower ? lower : upper;
        other_root = rank == root ? (is_lower ? upper : lower) : no_rank;
        node = topology::in_order_place(rank, first, last - 1, root);
    }
};

}  // namespace

Schedule dual_root(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;
    const DualTree tree(r, p);
    const auto& node = tree.node;
    const Segments own = call.segments(call.input()), results = call.segments(call.output());
    const SegmentRing lefts(call, own), rights(call, own), sums(call, own), others(call, own);

    // So many segments later than its own goes up, the result comes down to a rank; its children get it with the next
    // segment.
    const Count lag = node.ancestors, lag_below = lag + 1;
    for (Count i = 0; i < own.size() + lag_below; ++i) {
        const bool goes_up = i < own.size();
        const auto slot = [&](const SegmentRing& ring) { return goes_up ? ring.slot(i, own[i]) : Block(); };
        const Block lower = slot(lefts), upper = slot(rights), sum = slot(sums), other = slot(others);
        const Block below = results.at(i - lag_below), mine = own.at(i);
        co_yield exchange(send(below, node.left), receive(lower, node.left));
        if (node.left != no_rank) co_yield combine(lower, mine).into(sum);
        Block partial = node.left != no_rank ? sum : mine;
        co_yield exchange(send(below, node.right), receive(upper, node.right));
        if (node.right != no_rank) {
            co_yield combine(partial, upper).into(sum);
            partial = sum;
        }
        co_yield exchange(send(partial, node.parent), receive(results.at(i - lag), node.parent));
        co_yield exchange(send(partial, tree.other_root), receive(other, tree.other_root));
        if (tree.other_root == no_rank) continue;
        if (tree.is_lower) co_yield combine(partial, other).into(results.at(i));
        else co_yield combine(other, partial).into(results.at(i));
    }
}

const AlgorithmInfo dual_root_info = {
    .collective = "allreduce",
    .name = "dual_root",
    .summary = "up and down two trees at the same time, their roots exchange: few rounds, a third of the bandwidth",
    .citation = "traff2021doubly",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = dual_root,
};

}  // namespace rondo::allreduce
