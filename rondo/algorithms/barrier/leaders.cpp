// SPDX-License-Identifier: BSD-3-Clause
// Leaders: the first rank of each node hears from the ranks of its node, along a tree; these ranks meet by
// dissemination; each releases its node. Rounds on N nodes of n ranks: ceil(log2 N) between nodes, the least that is
// possible. As barriers for clusters of shared memory do, [mellorcrummey1991algorithms] and [hensgen1988two] one above
// the other.
#include "rondo/algorithms/barrier/barrier.hpp"
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo::barrier {

Schedule leaders(const Call& call) {
    const auto radix = static_cast<Rank>(call.setting("radix"));
    const auto [node, number] = call.place(call.ranks().first);
    const Block all = call.output();
    const NodeOrder order(call, call.parts(all));
    const Block of_node = order.of_node(call.scratch(), node);
    const Call gathering = call.on_node(call.input(), of_node, {});
    Schedule up = gather_along_tree(gathering, radix);
    co_yield steps_of(up);
    if (number == 0) {
        const Call across = call.on_leaders(of_node, all, {.starts = order.nodes()});
        Schedule between_nodes = disseminate(across, 2);
        co_yield steps_of(between_nodes);
    }
    const Call releasing = call.on_node(all, all, {});
    Schedule down = release_along_tree(releasing, radix);
    co_yield steps_of(down);
}

namespace {

constexpr Parameter parameters[] = {
    {.name = "radix",
     .summary = "within nodes: children of a rank on each level, and one",
     .minimum = 2,
     .maximum = 64,
     .standard = 4},
};

}  // namespace

const AlgorithmInfo leaders_info = {
    .collective = "barrier",
    .name = "leaders",
    .summary = "up to one rank of each node, dissemination among these, down again: for nodes of many ranks",
    .citation = "hensgen1988two",
    .parameters = parameters,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::barrier
