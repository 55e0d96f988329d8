// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/trees.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace rondo::topology {
namespace {

/// Ranks of the smallest Fibonacci tree (1, 2, 4, 7, 12, ...: one more than the two before it together) that holds
/// `size` ranks, without its root and its smaller side.
Rank larger_side(Rank size) {
    std::int64_t smaller = 0, larger = 1;  // trees of consecutive depths
    while (larger < size) smaller = std::exchange(larger, 1 + smaller + larger);
    return static_cast<Rank>(std::min<std::int64_t>(smaller, size - 1));
}

}  // namespace

Rank in_order_root(Rank first, Rank last, TreeShape shape) {
    const Rank size = last - first + 1;
    return first + (shape == TreeShape::fibonacci ? larger_side(size) : size / 2);
}

InOrderPlace in_order_place(Rank rank, Rank first, Rank last, Rank root, TreeShape shape) {
    const auto root_of = [shape](Rank from, Rank to) { return from > to ? no_rank : in_order_root(from, to, shape); };
    const Rank first_of_all = first;
    InOrderPlace place;
    while (rank != root) {
        place.parent = root;
        ++place.ancestors;
        if (first > first_of_all) ++place.inner_ancestors;
        if (rank < root) last = root - 1;
        else first = root + 1;
        root = in_order_root(first, last, shape);
    }
    place.left = root_of(first, root - 1);
    place.right = root_of(root + 1, last);
    place.first = first;
    place.last = last;
    return place;
}

}  // namespace rondo::topology
