// SPDX-License-Identifier: BSD-3-Clause
// Tree: who has entered is told up a tree to rank 0, which then tells down the tree that all have. A rank has up to
// `radix` - 1 children on each level: with radix 2 the tree is binomial, with p all others are children of rank 0.
// [mellorcrummey1991algorithms], section 2.3. Messages: 2 (p - 1), the fewest that a barrier can do with when none of
// them is seen by several ranks. Rounds: 2 ceil(log2 p) with radix 2.
#include <algorithm>

#include "rondo/algorithms/barrier/barrier.hpp"

namespace rondo::barrier {

// The parent of a rank is the one without its last digit, to the base `radix`, that is not 0. Between them, and behind
// the rank up to its next sibling, are its descendants only.

Schedule gather_along_tree(const Call& call, Rank radix) {
    const auto [r, p] = call.ranks();
    const Parts parts = call.parts(call.output());
    co_yield copy(call.input()).into(parts[r]);
    for (Rank span = 1; span < p; span *= radix) {
        const auto subtree = [&, p = p](Rank top) { return parts.range(top, std::min(top + span, p)); };
        if (const Rank digit = r / span % radix; digit != 0) {
            co_yield exchange(send(subtree(r), r - digit * span));
            co_return;
        }
        for (Rank child = r + span; child < std::min(r + radix * span, p); child += span) {
            co_yield exchange(receive(subtree(child), child));
        }
    }
}

Schedule release_along_tree(const Call& call, Rank radix) {
    const auto [r, p] = call.ranks();
    const Block all = call.output();
    Rank span = 1;
    while (span < p && r / span % radix == 0) span *= radix;
    if (r != 0) co_yield exchange(receive(all, r - r / span % radix * span));
    for (span /= radix; span > 0; span /= radix) {
        for (Rank child = r + span; child < std::min(r + radix * span, p); child += span) {
            co_yield exchange(send(all, child));
        }
    }
}

Schedule tree(const Call& call) {
    const auto radix = static_cast<Rank>(call.setting("radix"));
    Schedule up = gather_along_tree(call, radix);
    co_yield steps_of(up);
    Schedule down = release_along_tree(call, radix);
    co_yield steps_of(down);
}

namespace {

constexpr Parameter parameters[] = {
    {.name = "radix",
     .summary = "children of a rank on each level, and one; as many as there are ranks: all are children of rank 0",
     .minimum = 2,
     .maximum = 64,
     .standard = 4},
};

}  // namespace

const AlgorithmInfo tree_info = {
    .collective = "barrier",
    .name = "tree",
    .summary = "up a tree to rank 0, and down again: the fewest messages",
    .citation = "mellorcrummey1991algorithms",
    .parameters = parameters,
    .schedule = tree,
};

}  // namespace rondo::barrier
