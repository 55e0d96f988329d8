// SPDX-License-Identifier: BSD-3-Clause
// Two-tree broadcast: the root feeds two binary trees over the other ranks, each with one half of the vector, in turn.
// The inner ranks of one tree are leaves of the other, and the edges' colours keep every step one-ported.
// [sanders2009two], section 4.1. For 2k blocks and h the height with the root: at most 2*h + 2*k steps; time tends to
// beta*m. With simplex=1 ranks are couples of a receiver and a sender, and no rank does both in one step (section 5.2).
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/two_tree_steps.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

namespace {

/// A couple plays one rank of the trees; the receiver hands everything to the sender. The root is a sender, with a
/// receiver of its own only if the number of ranks is even, which then hears everything from it.
Schedule simplex(const Call& call, topology::SecondTree second) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r), before_couples = p % 2 == 0 ? 2 : 1;
    const Rank couples = (p - before_couples) / 2;
    const bool of_the_root = place < before_couples;
    const Rank couple = of_the_root ? couples : (place - before_couples) / 2;
    const bool receives = of_the_root ? place == 1 : (place - before_couples) % 2 == 0;
    const auto receiver = [=](Rank of) { return before_couples + 2 * of; };
    const auto sender = [=](Rank of) { return of == couples ? 0 : receiver(of) + 1; };
    const Rank partner = of_the_root ? (p % 2 == 0 ? 1 - place : no_rank) : receives ? place + 1 : place - 1;

    const TwoTreeSteps steps(call, call.output(), couples, second, topology::OddRank::leaf, couple);
    for (Count step = 0; step < steps.size(); ++step) {
        const Passage in = steps.from_parent(step), out = steps.to_child(step);
        if (of_the_root) {
            if (place == 0) co_yield exchange(send(steps.block(out), circle.rank_at(receiver(out.peer))));
            const Block block = steps.block(out);
            if (place == 0) co_yield exchange(send(block, circle.rank_at(partner)));
            else co_yield exchange(receive(block, circle.rank_at(partner)));
        } else if (receives) {
            co_yield exchange(receive(steps.block(in), circle.rank_at(sender(in.peer))));
            co_yield exchange(send(steps.block(in), circle.rank_at(partner)));
        } else {
            co_yield exchange(send(steps.block(out), circle.rank_at(receiver(out.peer))));
            co_yield exchange(receive(steps.block(in), circle.rank_at(partner)));
        }
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
    {.name = "simplex",
     .summary = "1: no rank sends and receives in the same step, for half-duplex networks",
     .minimum = 0,
     .maximum = 1,
     .standard = 0},
};

}  // namespace

Schedule two_tree(const Call& call) {
    if (call.ranks().second == 1) co_return;
    const topology::SecondTree second = second_tree(call);
    // Two ranks make no couple beside the root's, and only one of them sends.
    const bool couples = call.setting("simplex") == 1 && call.ranks().second > 2;
    Schedule steps = couples ? simplex(call, second) : duplex(call, second);
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
