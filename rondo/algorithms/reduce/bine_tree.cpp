// SPDX-License-Identifier: BSD-3-Clause
// Bine tree reduction: the broadcast run backwards. Where the operator does not commute, the tree's ranges do not go
// round the circle of the ranks, but the root may be anywhere in them: then those of its messages are longer. Short
// vectors: every message is a whole vector. [desensi2025bine]. Rounds: ceil(log2 p), for every root and operator;
// operations: one per round.
#include <ranges>

#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/topology/bine.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::reduce {

Schedule bine_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root, top = call.commutative() ? topology::BineTree::best_root(p) : root;
    const topology::Rotation circle(root, top, p);
    const Rank place = circle.place_of(r);
    const topology::BineTree tree(place, top, p);
    const Block incoming = call.scratch(), sum = r == root ? call.output() : call.scratch();

    Block partial = call.input();
    for (const Rank child : std::views::reverse(tree.children())) {
        co_yield exchange(receive(incoming, circle.rank_at(child)));
        if (child < place) co_yield combine(incoming, partial).into(sum);
        else co_yield combine(partial, incoming).into(sum);
        partial = sum;
    }
    co_yield exchange(send(partial, circle.rank_at(tree.parent())));
    if (p == 1) co_yield copy(partial).into(call.output());
}

const AlgorithmInfo bine_tree_info = {
    .collective = "reduce",
    .name = "bine_tree",
    .summary =
        "whole vectors along a tree of shorter distances than a binomial one: ceil(log2 p) rounds, in rank order",
    .citation = "desensi2025bine",
    .tolerates_in_place = true,
    .schedule = bine_tree,
};

}  // namespace rondo::reduce
