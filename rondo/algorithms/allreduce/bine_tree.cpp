// SPDX-License-Identifier: BSD-3-Clause
// Bine tree: a reduction to one rank and a broadcast from there, both along a Bine tree, in rank order. The root is the
// one for which the tree does not go round the circle of the ranks. [desensi2025bine]. Short vectors, whole in every
// message. Rounds: 2 ceil(log2 p). No butterfly of whole vectors: there the windows of two ranks overlap without being
// the same, so that each would add in another order, and get other bits.
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/topology/bine.hpp"

namespace rondo::allreduce {

Schedule bine_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const Call::Within within{.root = topology::BineTree::best_root(p)};
    const Call summing = call.on(call.group(), r, call.input(), call.output(), within);
    Schedule reduction = reduce::bine_tree(summing);
    co_yield steps_of(reduction);
    const Call spreading = call.on(call.group(), r, call.output(), call.output(), within);
    Schedule broadcast = bcast::bine_tree(spreading);
    co_yield steps_of(broadcast);
}

const AlgorithmInfo bine_tree_info = {
    .collective = "allreduce",
    .name = "bine_tree",
    .summary = "whole vectors to one rank and back along a Bine tree: for short vectors, in rank order",
    .citation = "desensi2025bine",
    .tolerates_in_place = true,
    .schedule = bine_tree,
};

}  // namespace rondo::allreduce
