// SPDX-License-Identifier: BSD-3-Clause
// Bine tree broadcast: whoever has the vector sends it into the other half of its range, first over the longest
// distances, which are two thirds of those of a binomial tree. [desensi2025bine]. Short vectors: every message is the
// whole vector. Rounds: ceil(log2 p).
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/topology/bine.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

Schedule bine_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank top = topology::BineTree::best_root(p);
    const topology::Rotation circle(call.facts().root, top, p);
    const topology::BineTree tree(circle.place_of(r), top, p);
    const Block vector = call.output();
    co_yield exchange(receive(vector, circle.rank_at(tree.parent())));
    for (const Rank child : tree.children()) co_yield exchange(send(vector, circle.rank_at(child)));
}

const AlgorithmInfo bine_tree_info = {
    .collective = "bcast",
    .name = "bine_tree",
    .summary = "whole vectors along a tree of shorter distances than a binomial one: ceil(log2 p) rounds",
    .citation = "desensi2025bine",
    .tolerates_in_place = true,
    .schedule = bine_tree,
};

}  // namespace rondo::bcast
