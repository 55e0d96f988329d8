// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/tree_scans.hpp"

#include "rondo/algorithms/patterns/tree_shape.hpp"
#include "rondo/algorithms/patterns/two_tree_steps.hpp"

namespace rondo {
namespace {

/// A rank's place in the single tree over all ranks.
struct SingleTree {
    topology::InOrderPlace node;
    PrefixTree scan;

    SingleTree(const Call& call, ScanKind kind)
        : node(place_of(call)), scan(call, kind, call.segments(call.input()), call.segments(call.output()),
                                     {.has_left = node.left != no_rank,
                                      .has_right = node.right != no_rank,
                                      .is_first = node.first == 0,
                                      .is_last = node.last == call.ranks().second - 1}) {}

    static topology::InOrderPlace place_of(const Call& call) {
        const auto [r, p] = call.ranks();
        const topology::TreeShape shape = tree_shape(call);
        return topology::in_order_place(r, 0, p - 1, topology::in_order_root(0, p - 1, shape), shape);
    }
};

PrefixPlace place_in(const TwoTreeSteps& steps, int tree, Rank rank) {
    const topology::TwoTrees& trees = steps.trees();
    const topology::TwoTrees::Links links = trees.links(tree, rank);
    return {.has_left = links.left != no_rank,
            .has_right = links.right != no_rank,
            .is_first = outermost(trees, tree, rank, true) == 0,
            .is_last = outermost(trees, tree, rank, false) == trees.size() - 1,
            // Backwards, who would hear first speaks last.
            .left_first = !steps.is_first_of_two({links.left, tree, 0})};
}

PrefixTree half_scan(const Call& call, ScanKind kind, const TwoTreeSteps& steps, int tree) {
    return {call, kind, TwoTreeSteps::segments_of_half(call, call.input(), tree),
            TwoTreeSteps::segments_of_half(call, call.output(), tree), place_in(steps, tree, call.ranks().first)};
}

}  // namespace

Rank outermost(const topology::TwoTrees& trees, int tree, Rank rank, bool left) {
    for (Rank next = rank; next != no_rank;) {
        rank = next;
        const topology::TwoTrees::Links links = trees.links(tree, rank);
        next = left ? links.left : links.right;
    }
    return rank;
}

Schedule pipelined_tree_scan(const Call& call, ScanKind kind) {
    const SingleTree tree(call, kind);
    const auto& [node, scan] = tree;
    const Count segments = scan.size();

    for (Count i = 0; i <= segments; ++i) {
        co_yield exchange(send(scan.to_parent(i - 1), node.parent), receive(scan.from_left(i), node.left));
        for (const Combine& work : scan.after_left(i)) co_yield work;
        co_yield exchange(receive(scan.from_right(i), node.right));
        for (const Combine& work : scan.after_right(i)) co_yield work;
    }
    for (Count i = 0; i <= segments; ++i) {
        for (const Combine& work : scan.before_right(i - 1)) co_yield work;
        co_yield exchange(send(scan.to_right(i - 1), node.right), receive(scan.from_parent(i), node.parent));
        for (const Combine& work : scan.after_parent(i)) co_yield work;
        co_yield exchange(send(scan.to_left(i), node.left));
    }
    if (scan.copies_own()) co_yield copy(call.input()).into(call.output());
}

Schedule doubly_pipelined_tree_scan(const Call& call, ScanKind kind) {
    const SingleTree tree(call, kind);
    const auto& [node, scan] = tree;

    // So many segments later than its own goes up, the sum of what lies before it comes down to a rank; its children
    // get it with the next segment, but from a rank on the left edge, which hears nothing from above, at once.
    const Count lag = node.inner_ancestors, lag_below = scan.from_parent(0).empty() ? 0 : lag + 1;
    for (Count i = 0; i < scan.size() + lag_below; ++i) {
        const Count down = i - lag_below;
        co_yield exchange(send(scan.to_left(down), node.left), receive(scan.from_left(i), node.left));
        for (const Combine& work : scan.after_left(i)) co_yield work;
        for (const Combine& work : scan.before_right(down)) co_yield work;
        co_yield exchange(send(scan.to_right(down), node.right), receive(scan.from_right(i), node.right));
        for (const Combine& work : scan.after_right(i)) co_yield work;
        co_yield exchange(send(scan.to_parent(i), node.parent), receive(scan.from_parent(i - lag), node.parent));
        for (const Combine& work : scan.after_parent(i - lag)) co_yield work;
    }
    if (scan.copies_own()) co_yield copy(call.input()).into(call.output());
}

Schedule two_tree_scan(const Call& call, ScanKind kind) {
    const auto [r, p] = call.ranks();
    const TwoTreeSteps steps(call, call.input(), p, second_tree(call), topology::OddRank::root, r);
    const PrefixTree scans[] = {half_scan(call, kind, steps, 0), half_scan(call, kind, steps, 1)};
    // The roots are fed by nobody.
    const auto inside = [&, p = p](Passage passage) { return passage.peer == p ? Passage() : passage; };

    for (Count step = steps.size() - 1; step >= 0; --step) {
        const Passage out = inside(steps.from_parent(step)), in = steps.to_child(step);
        const bool left = in.happens() && steps.is_left_child(in);
        const PrefixTree& heard = scans[in.tree];
        const Block arrival = !in.happens() ? Block() : left ? heard.from_left(in.block) : heard.from_right(in.block);
        const Block sent = out.happens() ? scans[out.tree].to_parent(out.block) : Block();
        co_yield exchange(send(sent, out.peer), receive(arrival, in.peer));
        if (!in.happens()) continue;
        for (const Combine& work : left ? heard.after_left(in.block) : heard.after_right(in.block)) co_yield work;
    }
    for (Count step = 0; step < steps.size(); ++step) {
        const Passage in = inside(steps.from_parent(step)), out = steps.to_child(step);
        const bool left = out.happens() && steps.is_left_child(out);
        const PrefixTree& heard = scans[in.tree];
        const PrefixTree& told = scans[out.tree];
        if (out.happens() && !left) {
            for (const Combine& work : told.before_right(out.block)) co_yield work;
        }
        const Block sent = !out.happens() ? Block() : left ? told.to_left(out.block) : told.to_right(out.block);
        const Block arrival = in.happens() ? heard.from_parent(in.block) : Block();
        co_yield exchange(send(sent, out.peer), receive(arrival, in.peer));
        if (!in.happens()) continue;
        for (const Combine& work : heard.after_parent(in.block)) co_yield work;
    }
    for (const int tree : {0, 1}) {
        if (!scans[tree].copies_own()) continue;
        const Parts from(call.input(), 2), into(call.output(), 2);
        co_yield copy(from[tree]).into(into[tree]);
    }
}

}  // namespace rondo
