// SPDX-License-Identifier: BSD-3-Clause
// Split tree broadcast: each half of a binary tree broadcasts one half of the vector; then the ranks of the two halves
// exchange what they have. [pjesivac2007performance]. Time about 1.5*beta*m: between one tree and two.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo::bcast {

Schedule split_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const Parts halves(call.output(), 2);
    const Segments first = call.segments(halves[0]), second = call.segments(halves[1]);
    if (p == 1) co_return;

    // Places 1 to `middle` make the left half, the others the right one, which may be one shorter.
    const Rank middle = p / 2;
    const bool odd_one = p % 2 == 0;  // `middle` has no partner: the root gives it the second half
    if (place == 0) {
        const Rank left = circle.rank_at(topology::in_order_root(1, middle));
        const Rank right = odd_one && p == 2 ? no_rank : circle.rank_at(topology::in_order_root(middle + 1, p - 1));
        for (Count i = 0; i < first.size(); ++i) {
            co_yield exchange(send(first[i], left));
            co_yield exchange(send(second.at(i), right));
        }
        for (Count i = 0; odd_one && i < second.size(); ++i) co_yield exchange(send(second[i], circle.rank_at(middle)));
        co_return;
    }

    const bool on_left = place <= middle;
    const Rank begin = on_left ? 1 : middle + 1, end = on_left ? middle : p - 1;
    const Rank top = topology::in_order_root(begin, end);
    const topology::InOrderPlace node = topology::in_order_place(place, begin, end, top);
    const TreeNeighbours neighbours{circle.rank_at(place == top ? 0 : node.parent), circle.rank_at(node.left),
                                    circle.rank_at(node.right)};
    const Segments& own = on_left ? first : second;
    const Segments& other = on_left ? second : first;
    Schedule stream = stream_down(call, own, neighbours);
    co_yield steps_of(stream);

    const bool is_odd = odd_one && place == middle;
    const Rank partner = circle.rank_at(is_odd ? 0 : on_left ? place + middle : place - middle);
    for (Count i = 0; i < first.size(); ++i) {
        const Block given = is_odd ? Block() : own.at(i);
        co_yield exchange(send(given, partner), receive(other.at(i), partner));
    }
}

const AlgorithmInfo split_tree_info = {
    .collective = "bcast",
    .name = "split_tree",
    .summary = "each half of a tree broadcasts half the vector, then the halves exchange: 2/3 of the bandwidth",
    .citation = "pjesivac2007performance",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = split_tree,
};

}  // namespace rondo::bcast
