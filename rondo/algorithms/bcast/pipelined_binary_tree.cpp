// SPDX-License-Identifier: BSD-3-Clause
// Pipelined binary tree broadcast: segments down one tree, each rank sending to its two children in turn.
// [sanders2009two], section 2. Rounds: about 2*(log2 p + segments); a Fibonacci tree (tree=1) is less deep, as the
// child that hears first has the larger subtree.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/tree_shape.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

Schedule stream_down(const Call& /*call*/, const Segments& segments, const TreeNeighbours& neighbours) {
    const bool is_root = neighbours.parent == no_rank;
    for (Count i = 0; i <= segments.size(); ++i) {
        if (!is_root || i > 0) {
            co_yield exchange(send(segments.at(i - 1), neighbours.second_child),
                              receive(segments.at(i), neighbours.parent));
        }
        co_yield exchange(send(segments.at(i), neighbours.first_child));
    }
}

Schedule pipelined_binary_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::TreeShape shape = tree_shape(call);
    const Rank top = topology::in_order_root(0, p - 1, shape);
    const topology::Rotation circle(call.facts().root, top, p);
    const topology::InOrderPlace place = topology::in_order_place(circle.place_of(r), 0, p - 1, top, shape);
    const TreeNeighbours neighbours{circle.rank_at(place.parent), circle.rank_at(place.left),
                                    circle.rank_at(place.right)};
    const Segments segments = call.segments(call.output());
    Schedule stream = stream_down(call, segments, neighbours);
    co_yield steps_of(stream);
}

namespace {

constexpr Parameter parameters[] = {segment_parameter, tree_shape_parameter};

}  // namespace

const AlgorithmInfo pipelined_binary_tree_info = {
    .collective = "bcast",
    .name = "pipelined_binary_tree",
    .summary = "segments down a binary tree: half the bandwidth, few rounds",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = pipelined_binary_tree,
};

}  // namespace rondo::bcast
