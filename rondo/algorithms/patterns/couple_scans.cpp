// SPDX-License-Identifier: BSD-3-Clause
// Two-tree scans in which no rank sends and receives at once: see couples.hpp.
#include "rondo/algorithms/patterns/couples.hpp"
#include "rondo/algorithms/patterns/tree_scans.hpp"

namespace rondo {
namespace {

/// A rank of a couple in one of the two trees over all ranks.
PrefixPlace place_in(const CoupleSteps& couple, int tree, Rank ranks) {
    if (couple.is_feeder()) return {.has_left = true, .has_right = false, .is_first = true, .is_last = true};
    const topology::TwoTrees& trees = couple.steps().trees();
    const bool is_left = couple.is_left(), is_top = couple.is_top(tree), has_child = couple.has_child(tree);
    const bool begins_with_couple = is_left || is_top, ends_with_couple = !is_left || is_top;
    return {.has_left = is_left ? has_child : is_top,
            .has_right = is_left ? is_top : has_child,
            .is_first = begins_with_couple && outermost(trees, tree, couple.couple(), true) == 0,
            .is_last = ends_with_couple && 2 * outermost(trees, tree, couple.couple(), false) + 2 == ranks,
            .left_first = is_left};  // the partner comes last
}

struct CoupleScan {
    CoupleSteps couple;
    PrefixTree scans[2];

    CoupleScan(const Call& call, ScanKind kind)
        : couple(call, call.input(), call.ranks().second / 2, second_tree(call), topology::OddRank::root,
                 call.ranks().first),
          scans{half(call, kind, 0), half(call, kind, 1)} {}

    [[nodiscard]] PrefixTree half(const Call& call, ScanKind kind, int tree) const {
        return {call, kind, TwoTreeSteps::segments_of_half(call, call.input(), tree),
                TwoTreeSteps::segments_of_half(call, call.output(), tree), place_in(couple, tree, call.ranks().second)};
    }
};

/// Before a block goes to the parent of the couple, the top hears what its partner has.
Schedule up(const Call& /*call*/, const CoupleScan& all) {
    const auto& [couple, scans] = all;
    const bool is_left = couple.is_left();
    for (Count step = couple.steps().size() - 1; step >= 0; --step) {
        const Passage out = couple.steps().from_parent(step), in = couple.steps().to_child(step);
        const PrefixTree& told = scans[out.tree];
        const PrefixTree& heard = scans[in.tree];
        if (out.happens() && couple.is_top(out.tree)) {
            const Block arrival = is_left ? told.from_right(out.block) : told.from_left(out.block);
            co_yield exchange(receive(arrival, couple.partner()));
            for (const Combine& work : is_left ? told.after_right(out.block) : told.after_left(out.block))
                co_yield work;
        } else if (out.happens()) {
            co_yield exchange(send(told.to_parent(out.block), couple.partner()));
        }
        const Rank to = couple.parent(out), from = couple.child(in);
        const Block arrival = is_left ? heard.from_left(in.block) : heard.from_right(in.block);
        co_yield exchange(send(told.to_parent(out.block), to), receive(arrival, from));
        if (from == no_rank) continue;
        for (const Combine& work : is_left ? heard.after_left(in.block) : heard.after_right(in.block)) co_yield work;
    }
}

/// After a block has come from the parent of the couple, the top tells its partner what that one needs.
Schedule down(const Call& /*call*/, const CoupleScan& all) {
    const auto& [couple, scans] = all;
    const bool is_left = couple.is_left();
    for (Count step = 0; step < couple.steps().size(); ++step) {
        const Passage in = couple.steps().from_parent(step), out = couple.steps().to_child(step);
        const PrefixTree& heard = scans[in.tree];
        const PrefixTree& told = scans[out.tree];
        const Rank from = couple.parent(in), to = couple.child(out);
        if (to != no_rank && !is_left) {
            for (const Combine& work : told.before_right(out.block)) co_yield work;
        }
        const Block sent = is_left ? told.to_left(out.block) : told.to_right(out.block);
        co_yield exchange(send(sent, to), receive(heard.from_parent(in.block), from));
        if (!in.happens()) continue;
        const bool is_top = couple.is_top(in.tree);
        if (!is_top) co_yield exchange(receive(heard.from_parent(in.block), couple.partner()));
        for (const Combine& work : heard.after_parent(in.block)) co_yield work;
        if (is_top && is_left) {
            for (const Combine& work : heard.before_right(in.block)) co_yield work;
        }
        const Block handed = is_left ? heard.to_right(in.block) : heard.to_left(in.block);
        if (is_top) co_yield exchange(send(handed, couple.partner()));
    }
}

}  // namespace

Schedule couple_scan(const Call& call, ScanKind kind) {
    const CoupleScan all(call, kind);
    Schedule sums = up(call, all);
    co_yield steps_of(sums);
    Schedule prefixes = down(call, all);
    co_yield steps_of(prefixes);
    for (const int tree : {0, 1}) {
        if (!all.scans[tree].copies_own()) continue;
        const Parts from(call.input(), 2), into(call.output(), 2);
        co_yield copy(from[tree]).into(into[tree]);
    }
}

}  // namespace rondo
