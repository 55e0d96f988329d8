// SPDX-License-Identifier: BSD-3-Clause
// Two-tree reduction: the two-tree broadcast run backwards, each tree reducing one half of the vector for the root. In
// rank order if the root is the first or the last rank; any root if the operator commutes. [sanders2009two], section
// 4.2. For 2k blocks: at most 2*h + 2*k steps; time tends to beta*m. Operations: about two per block of one half. With
// simplex=1 ranks are couples, and no rank sends and receives in one step (section 5.2): twice the time.
#include <algorithm>

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

constexpr Requirement simplex_requirement = {
    "with simplex=1, a commutative operator",
    [](const SharedFacts& facts, std::span<const Setting> settings) -> std::optional<std::string> {
        const auto is_on = [](const Setting& setting) {
            return setting.name == simplex_parameter.name && setting.value == 1;
        };
        if (facts.op.commutative || std::ranges::none_of(settings, is_on)) return std::nullopt;
        return "simplex=1, and the operator does not commute";
    }};

constexpr Requirement requirements[] = {root_requirement, segment_requirement, simplex_requirement};

/// A couple's sum of one block: its children's and its own inputs, the one who talks to the parent adding last. It
/// would have to add between the children for an operator that does not commute.
Schedule simplex(const Call& call, topology::SecondTree second) {
    const Couples couples(call);
    const Rank partner = couples.partner();
    const TwoTreeSteps steps(call, call.input(), couples.size(), second, topology::OddRank::leaf, couples.number());
    const SegmentRing arrivals[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};
    const SegmentRing sums[] = {{call, steps.segments(0)}, {call, steps.segments(1)}};
    const auto slot = [&](const SegmentRing(&rings)[2], const Passage& passage) {
        return passage.happens() ? rings[passage.tree].slot(passage.block, steps.block(passage)) : Block();
    };

    for (Count step = steps.size() - 1; step >= 0; --step) {
        const Passage in = steps.to_child(step), out = couples.is_of_root() ? in : steps.from_parent(step);
        const Block given = steps.block(out), own = steps.block(in), arrival = slot(arrivals, in);
        const Block sum =
            couples.is_root() ? call.output().part(own.first - call.input().first, own.count) : slot(sums, in);
        if (couples.hands_over()) {
            const Block heard = slot(sums, out), both = couples.is_root() ? sum : heard;
            co_yield exchange(receive(heard, partner));
            if (partner != no_rank) co_yield combine(given, heard).into(both);
        } else {
            const Block handed = couples.talks_downwards() && steps.has_child(out.tree) ? slot(sums, out) : given;
            co_yield exchange(send(handed, partner));
        }
        if (couples.talks_upwards()) co_yield exchange(send(slot(sums, out), couples.lower(out.peer)));
        if (!couples.talks_downwards() || !in.happens()) continue;
        co_yield exchange(receive(arrival, couples.upper(in.peer)));
        const bool has_sum = couples.is_root() ? partner != no_rank : steps.is_first_of_two(in);
        co_yield combine(has_sum ? sum : own, arrival).into(sum);
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
