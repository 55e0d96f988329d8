// SPDX-License-Identifier: BSD-3-Clause
// Pipelined binary tree reduction: segments up one in-order tree, each rank hearing its two children in turn. The tree
// has the root in its middle if the operator commutes, else wherever it is. [sanders2009two], section 2. Rounds: about
// 2*(log2 p + segments). Operations: two per segment.
#include "rondo/algorithms/patterns/tree_shape.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::reduce {

namespace {

constexpr Parameter parameters[] = {segment_parameter, tree_shape_parameter};

}  // namespace

Schedule pipelined_binary_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::TreeShape shape = tree_shape(call);
    const Rank root = call.facts().root, top = call.commutative() ? topology::in_order_root(0, p - 1, shape) : root;
    const topology::Rotation circle(root, top, p);
    const topology::InOrderPlace node = topology::in_order_place(circle.place_of(r), 0, p - 1, top, shape);
    const Rank parent = circle.rank_at(node.parent), left = circle.rank_at(node.left),
               right = circle.rank_at(node.right);

    const Segments own = call.segments(call.input()), results = call.segments(call.output());
    const SegmentRing lefts(call, own), rights(call, own), sums(call, own);
    // The broadcast backwards: the child that hears first there, the left one, is heard last here.
    Block ready;
    for (Count i = 0; i < own.size(); ++i) {
        const Block lower = lefts.slot(i, own[i]), upper = rights.slot(i, own[i]);
        const Block sum = r == root ? results[i] : sums.slot(i, own[i]);
        Block partial = own[i];
        co_yield exchange(send(ready, parent), receive(upper, right));
        if (right != no_rank) {
            co_yield combine(partial, upper).into(sum);
            partial = sum;
        }
        co_yield exchange(receive(lower, left));
        if (left != no_rank) {
            co_yield combine(lower, partial).into(sum);
            partial = sum;
        }
        ready = partial;
        if (p == 1) co_yield copy(own[i]).into(sum);
    }
    co_yield exchange(send(ready, parent));
}

const AlgorithmInfo pipelined_binary_tree_info = {
    .collective = "reduce",
    .name = "pipelined_binary_tree",
    .summary = "segments up a binary tree: half the bandwidth, few rounds",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = pipelined_binary_tree,
};

}  // namespace rondo::reduce
