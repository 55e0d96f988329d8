// SPDX-License-Identifier: BSD-3-Clause
// Two trees: the two-tree reduction to rank 0 and the two-tree broadcast from there, a step of each in turn: the
// segments that rank 0 gets first go out first, while others still come in. In rank order. [sanders2009two], sections
// 4.1 and 4.2. Long vectors. For 2k blocks and h the height with the root: about 2(2h + 2k) rounds; time tends to
// 2 beta m. Operations: about two per block of one half.
#include <algorithm>

#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/two_tree_steps.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::allreduce {

namespace {

constexpr Parameter parameters[] = {segment_parameter, second_tree_parameter};

}  // namespace

Schedule two_tree(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) {
        co_yield copy(call.input()).into(call.output());
        co_return;
    }
    // The trees are over the ranks behind rank 0.
    const topology::Rotation circle(0, p - 1, p);
    const auto odd = call.commutative() ? topology::OddRank::leaf : topology::OddRank::root;
    const Rank place = circle.place_of(r);
    const bool is_root = r == 0;
    const TwoTreeSteps steps(call, call.input(), p - 1, second_tree(call), odd, place);
    const SegmentRing arrivals[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};
    const SegmentRing sums[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};

    const auto result_of = [&](const Block& own) {
        return call.output().part(own.first - call.input().first, own.count);
    };
    const auto sum_of = [&](const Passage& passage, const Block& own) {
        return is_root ? result_of(own) : sums[passage.tree].slot(passage.block, own);
    };
    // The reduction takes the steps of a broadcast backwards, but the blocks in the same order.
    const auto reversed = [&](Passage passage) {
        if (passage.happens()) passage.block = steps.segments(passage.tree).size() - 1 - passage.block;
        return passage;
    };

    // Step j of the reduction is at the time -j, that of the broadcast at the time begin + j. At the root, block b of n
    // is reduced at the time -2(n - 1 - b), or before.
    const Count first_half = steps.segments(0).size(), second_half = steps.segments(1).size();
    const Count begin = 2 - 2 * std::max<Count>(1, second_half > 0 ? std::min(first_half, second_half) : first_half);
    for (Count time = 1 - steps.size(); time < begin + steps.size(); ++time) {
        const Passage up = reversed(steps.from_parent(-time)), in = reversed(steps.to_child(-time));
        const Block given = steps.block(up), own = steps.block(in);
        const Block sent = up.happens() && steps.has_child(up.tree) ? sum_of(up, given) : given;
        const Block arrival = in.happens() ? arrivals[in.tree].slot(in.block, own) : Block();
        co_yield exchange(send(sent, circle.rank_at(up.peer)), receive(arrival, circle.rank_at(in.peer)));
        if (in.happens()) {
            // Backwards, the child that hears first speaks last; then the other one's part is in the sum already.
            const bool second = !is_root && steps.is_first_of_two(in);
            const Block sum = sum_of(in, own), partial = second ? sum : own;
            const bool comes_before = !is_root && steps.is_left_child(in);
            if (comes_before) co_yield combine(arrival, partial).into(sum);
            else co_yield combine(partial, arrival).into(sum);
        }

        const Passage from = steps.from_parent(time - begin), down = steps.to_child(time - begin);
        const Block spread = down.happens() ? result_of(steps.block(down)) : Block();
        const Block result = from.happens() ? result_of(steps.block(from)) : Block();
        co_yield exchange(send(spread, circle.rank_at(down.peer)), receive(result, circle.rank_at(from.peer)));
    }
}

const AlgorithmInfo two_tree_info = {
    .collective = "allreduce",
    .name = "two_tree",
    .summary = "two trees, each for half the vector, to rank 0 and back: for long vectors, in rank order",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = two_tree,
};

}  // namespace rondo::allreduce
