// SPDX-License-Identifier: BSD-3-Clause
// Two-tree reduction: the two-tree broadcast run backwards, each tree reducing one half of the vector for the root. In
// rank order if the root is the first or the last rank; any root if the operator commutes. [sanders2009two], section
// 4.2. For 2k blocks: at most 2*h + 2*k steps; time tends to beta*m. Operations: about two per block of one half. With
// simplex=1 ranks are couples, and no rank sends and receives in one step (section 5.2): twice the time.
#include "rondo/algorithms/patterns/couples.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::reduce {

namespace {

constexpr Parameter parameters[] = {segment_parameter, second_tree_parameter, simplex_parameter};

constexpr Requirement root_requirement = {
    "the first or the last rank as root, or a commutative operator",
    [](const SharedFacts& facts, std::span<const Setting> /*settings*/) -> std::optional<std::string> {
        if (facts.op.commutative || facts.root == 0 || facts.root == facts.size - 1) return std::nullopt;
        return "root " + std::to_string(facts.root) + " of " + std::to_string(facts.size) +
               " ranks is neither the first nor the last, and the operator does not commute";
    }};

constexpr Requirement requirements[] = {root_requirement, segment_requirement};

/// What a rank in a couple needs beside its steps.
struct CoupleSums {
    SegmentRing arrivals[2], sums[2];
    const TwoTreeSteps& steps;

    CoupleSums(const Call& call, const TwoTreeSteps& all)
        : arrivals{{call, all.segments(0)}, {call, all.segments(1)}},
          sums{{call, all.segments(0)}, {call, all.segments(1)}}, steps(all) {}

    [[nodiscard]] Block slot(const SegmentRing (&rings)[2], const Passage& passage) const {
        return passage.happens() ? rings[passage.tree].slot(passage.block, steps.block(passage)) : Block();
    }
};

/// The root, and who is left over: of every block the trees' sum arrives, and the input of the latter before.
Schedule root_of_couples(const Call& call, const CouplesOfRoot& all, const CoupleSteps& couple) {
    const TwoTreeSteps& steps = couple.steps();
    const CoupleSums buffers(call, steps);
    for (Count step = steps.size() - 1; step >= 0; --step) {
        const Passage in = steps.to_child(step);
        const Block own = steps.block(in);
        if (all.is_left_over()) {
            co_yield exchange(send(own, all.beside_root()));
            continue;
        }
        const Block sum = call.output().part(own.first - call.input().first, own.count);
        Block partial = own;
        const Rank froms[] = {all.beside_root(), all.rank_of(couple.child(in))};
        const Block arrivals[] = {buffers.slot(buffers.sums, in), buffers.slot(buffers.arrivals, in)};
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            if (froms[i] == no_rank) continue;
            co_yield exchange(receive(arrivals[i], froms[i]));
            if (all.is_root_last()) co_yield combine(arrivals[i], partial).into(sum);
            else co_yield combine(partial, arrivals[i]).into(sum);
            partial = sum;
        }
    }
}

/// A block of the couple: each adds what its child sends, the top also what its partner has.
Schedule simplex(const Call& call, topology::SecondTree second) {
    const CouplesOfRoot all(call);
    const auto odd = call.commutative() ? topology::OddRank::leaf : topology::OddRank::root;
    const CoupleSteps couple(call, call.input(), all.couples(), second, odd, all.number());
    if (couple.is_feeder()) {
        Schedule root = root_of_couples(call, all, couple);
        co_yield steps_of(root);
        co_return;
    }
    const TwoTreeSteps& steps = couple.steps();
    const CoupleSums buffers(call, steps);
    const Rank partner = all.rank_of(couple.partner());
    const bool is_left = couple.is_left();
    for (Count step = steps.size() - 1; step >= 0; --step) {
        const Passage out = steps.from_parent(step), in = steps.to_child(step);
        const Block sum = buffers.slot(buffers.sums, out);
        const Block partial = out.happens() && couple.has_child(out.tree) ? sum : steps.block(out);
        if (out.happens() && couple.is_top(out.tree)) {
            const Block heard = buffers.slot(buffers.arrivals, out);
            co_yield exchange(receive(heard, partner));
            if (is_left) co_yield combine(partial, heard).into(sum);
            else co_yield combine(heard, partial).into(sum);
        } else {
            co_yield exchange(send(partial, partner));
        }
        const Rank to = all.rank_of(couple.parent(out)), from = all.rank_of(couple.child(in));
        const Block arrival = buffers.slot(buffers.arrivals, in), own = steps.block(in);
        co_yield exchange(send(sum, to), receive(arrival, from));
        if (from == no_rank) continue;
        if (is_left) co_yield combine(arrival, own).into(buffers.slot(buffers.sums, in));
        else co_yield combine(own, arrival).into(buffers.slot(buffers.sums, in));
    }
}

Schedule duplex(const Call& call, topology::SecondTree second) {
    const auto [r, p] = call.ranks();
    // The trees are over the ranks behind the root, in order around the circle: in rank order for the two ends.
    const topology::Rotation circle(call.facts().root, p - 1, p);
    const auto odd = call.commutative() ? topology::OddRank::leaf : topology::OddRank::root;
    const Rank place = circle.place_of(r);
    const TwoTreeSteps steps(call, call.input(), p - 1, second, odd, place);
    const bool is_root = place == p - 1, root_is_last = call.facts().root == p - 1;
    const SegmentRing arrivals[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};
    const SegmentRing sums[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};

    const auto sum_of = [&](const Passage& passage, const Block& own) {
        return is_root ? call.output().part(own.first - call.input().first, own.count)
                       : sums[passage.tree].slot(passage.block, own);
    };
    for (Count step = steps.size() - 1; step >= 0; --step) {
        const Passage out = steps.from_parent(step), in = steps.to_child(step);
        const Block given = steps.block(out), own = steps.block(in);
        const Block sent = out.happens() && steps.has_child(out.tree) ? sum_of(out, given) : given;
        const Block arrival = in.happens() ? arrivals[in.tree].slot(in.block, own) : Block();
        co_yield exchange(send(sent, circle.rank_at(out.peer)), receive(arrival, circle.rank_at(in.peer)));
        if (!in.happens()) continue;
        // Backwards, the child that hears first speaks last; then the other one's part is in the sum already.
        const bool is_second = !is_root && steps.is_first_of_two(in);
        const Block sum = sum_of(in, own), partial = is_second ? sum : own;
        const bool comes_before = is_root ? root_is_last : steps.is_left_child(in);
        if (comes_before) co_yield combine(arrival, partial).into(sum);
        else co_yield combine(partial, arrival).into(sum);
    }
}

}  // namespace

Schedule two_tree(const Call& call) {
    if (call.ranks().second == 1) {
        co_yield copy(call.input()).into(call.output());
        co_return;
    }
    const topology::SecondTree second = second_tree(call);
    Schedule steps = plays_in_couples(call) ? simplex(call, second) : duplex(call, second);
    co_yield steps_of(steps);
}

const AlgorithmInfo two_tree_info = {
    .collective = "reduce",
    .name = "two_tree",
    .summary = "two trees, each for half the vector: full bandwidth, about 2*log2 p rounds more than blocks",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = two_tree,
};

}  // namespace rondo::reduce
