// SPDX-License-Identifier: BSD-3-Clause
// Two-tree broadcast: the root feeds two binary trees over the other ranks, each with one half of the vector, in turn.
// The inner ranks of one tree are leaves of the other, and the edges' colours keep every step one-ported.
// [sanders2009two], section 4.1. For 2k blocks and h the height with the root: at most 2*h + 2*k steps; time tends to
// beta*m. With simplex=1 ranks are couples, and no rank sends and receives in one step (section 5.2): twice the time.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/couples.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

namespace {

Schedule simplex(const Call& call, topology::SecondTree second) {
    const CouplesOfRoot all(call);
    const CoupleSteps couple(call, call.output(), all.couples(), second, topology::OddRank::leaf, all.number());
    const TwoTreeSteps& steps = couple.steps();
    for (Count step = 0; step < steps.size(); ++step) {
        const Passage from = steps.from_parent(step), to = steps.to_child(step);
        const Block incoming = steps.block(from), outgoing = steps.block(to);
        if (all.is_left_over()) {
            co_yield exchange(receive(outgoing, all.beside_root()));
            continue;
        }
        co_yield exchange(send(outgoing, all.rank_of(couple.child(to))),
                          receive(incoming, all.rank_of(couple.parent(from))));
        const Rank partner = all.rank_of(couple.partner());
        if (all.is_root()) co_yield exchange(send(outgoing, all.beside_root()));
        else if (couple.is_top(from.tree)) co_yield exchange(send(incoming, partner));
        else co_yield exchange(receive(incoming, partner));
    }
}

Schedule duplex(const Call& call, topology::SecondTree second) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, p - 1, p);
    const TwoTreeSteps steps(call, call.output(), p - 1, second, topology::OddRank::leaf, circle.place_of(r));
    for (Count step = 0; step < steps.size(); ++step) {
        const Passage in = steps.from_parent(step), out = steps.to_child(step);
        co_yield exchange(send(steps.block(out), circle.rank_at(out.peer)),
                          receive(steps.block(in), circle.rank_at(in.peer)));
    }
}

constexpr Parameter parameters[] = {
    segment_parameter,
    second_tree_parameter,
    simplex_parameter,
};

}  // namespace

Schedule two_tree(const Call& call) {
    if (call.ranks().second == 1) co_return;
    const topology::SecondTree second = second_tree(call);
    Schedule steps = plays_in_couples(call) ? simplex(call, second) : duplex(call, second);
    co_yield steps_of(steps);
}

const AlgorithmInfo two_tree_info = {
    .collective = "bcast",
    .name = "two_tree",
    .summary = "two trees, each for half the vector: full bandwidth, about 2*log2 p rounds more than blocks",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = two_tree,
};

}  // namespace rondo::bcast
