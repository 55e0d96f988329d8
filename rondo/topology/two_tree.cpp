// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/two_tree.hpp"

#include <algorithm>
#include <bit>

namespace rondo::topology {
namespace {

// The first tree over nodes 1 to `size`: a node's height is the number of its trailing zeros, the root is the largest
// power of two. 0 stands for no node.

Rank lowest_bit(Rank node) { return node & -node; }

Rank bit_floor(Rank number) { return static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(number))); }

Rank parent_of(Rank node, Rank size) {
    const Rank height = lowest_bit(node);
    const bool right_child = (node & 2 * std::int64_t{height}) != 0 || node + std::int64_t{height} > size;
    return right_child ? node - height : node + height;
}

Rank left_child_of(Rank node) {
    const Rank height = lowest_bit(node);
    return height > 1 ? node - height / 2 : 0;
}

Rank right_child_of(Rank node, Rank size) {
    const Rank height = lowest_bit(node);
    if (height == 1 || node == size) return 0;
    return node + std::min(height / 2, bit_floor(size - node));
}

/// The colour of the edge from the parent, of a node that is not a leaf; `size` is even. The root's is 1. From parent
/// to child it changes if size/2 is odd, and once more if the child is a left one (the paper's recursion). Left parents
/// on the way to the root stand for the ones of `node` above its lowest, right parents for the zeros among them, up to
/// the place where node and size begin to differ: beyond it they would lie behind the last node.
int inner_color(Rank node, Rank size) {
    const auto bits = static_cast<std::uint32_t>(node);
    const std::uint32_t above = ~(2 * (bits & -bits) - 1);
    const std::uint32_t same_end = 2 * std::bit_floor(bits ^ static_cast<std::uint32_t>(size)) - 1;
    const int left_parents = std::popcount(bits & above);
    const int right_parents = node == size ? 0 : std::popcount(~bits & above & same_end);
    return (1 ^ (size / 2 & (left_parents + right_parents)) ^ right_parents) & 1;
}

constexpr std::uint8_t no_color = 2;

constexpr int fed_before = -1;  // the step in which the feeder of the trees has its first block

/// The first step after `step` in which edges of this colour are used.
int next_step(int step, int color) { return (step + 1) % 2 == color ? step + 1 : step + 2; }

}  // namespace

TwoTrees::TwoTrees(Rank size, SecondTree second, OddRank odd)
    : size_(size), core_(second == SecondTree::mirroring ? size / 2 * 2 : size), second_(second), odd_(odd) {
    if (second_ == SecondTree::shifting) colors_ = follow_paths();
}

TwoTrees::Links TwoTrees::core_links(int tree, Rank rank) const {
    const auto renamed = [](Rank node, Rank size, auto&& rank_of) {
        const auto rank_or_none = [&](Rank each) { return each == 0 ? no_rank : rank_of(each); };
        const bool is_root = node == bit_floor(size);
        return Links{rank_or_none(is_root ? 0 : parent_of(node, size)), rank_or_none(left_child_of(node)),
                     rank_or_none(right_child_of(node, size))};
    };
    if (tree == 0) return renamed(rank + 1, core_, [](Rank node) { return node - 1; });
    // One to the left; the first node, a leaf, falls off.
    if (second_ == SecondTree::shifting) return renamed(rank + 2, core_ + 1, [](Rank node) { return node - 2; });
    const Links mirrored = renamed(core_ - rank, core_, [this](Rank node) { return core_ - node; });
    return {mirrored.parent, mirrored.right, mirrored.left};
}

Rank TwoTrees::core_root(int tree) const {
    if (tree == 0) return bit_floor(core_) - 1;
    return second_ == SecondTree::shifting ? bit_floor(core_ + 1) - 2 : core_ - bit_floor(core_);
}

Rank TwoTrees::root(int tree) const {
    const bool odd_is_root = core_ < size_ && (odd_ == OddRank::root || core_ == 0);
    return odd_is_root ? core_ : core_root(tree);
}

TwoTrees::Links TwoTrees::links(int tree, Rank rank) const {
    if (core_ == size_) return core_links(tree, rank);
    const Rank odd_rank = core_;
    if (odd_ == OddRank::root || core_ == 0) {
        if (rank == odd_rank) return {no_rank, core_ > 0 ? core_root(tree) : no_rank, no_rank};
        Links links = core_links(tree, rank);
        if (links.parent == no_rank) links.parent = odd_rank;
        return links;
    }
    // Under the rank at one end, which has one child only.
    const Rank end = tree == 0 ? core_ - 1 : 0;
    if (rank == odd_rank) return {end, no_rank, no_rank};
    Links links = core_links(tree, rank);
    if (rank == end) (tree == 0 ? links.right : links.left) = odd_rank;
    return links;
}

int TwoTrees::color(int tree, Rank rank) const {
    if (second_ == SecondTree::shifting) return colors_[static_cast<std::size_t>(tree)][static_cast<std::size_t>(rank)];
    return mirrored_color(tree, rank);
}

/// The second tree, seen from the other end, is the first one with the colours swapped. What is inner in one tree is a
/// leaf of the other, where its colour must be the other one.
int TwoTrees::mirrored_color(int tree, Rank rank) const {
    if (rank == core_) {
        if (core_ == 0) return 1 - tree;
        if (odd_ == OddRank::root) return tree;
        const int only_other_child = mirrored_color(0, left_child_of(core_) - 1);
        return tree == 0 ? 1 - only_other_child : only_other_child;
    }
    const Rank node = tree == 0 ? rank + 1 : core_ - rank;
    const int color = inner_color(node % 2 == 0 ? node : core_ + 1 - node, core_);
    return tree == 0 ? color : 1 - color;
}

int TwoTrees::start(int tree, Rank rank) const {
    std::array<int, 40> colors;
    std::size_t depth = 0;
    for (Rank each = rank; each != no_rank; each = links(tree, each).parent) colors.at(depth++) = color(tree, each);
    int step = fed_before;
    while (depth > 0) step = next_step(step, colors[--depth]);
    return step;
}

TreeEdge TwoTrees::to_parent(int tree, Rank rank) const {
    const Rank parent = links(tree, rank).parent;
    return {parent == no_rank ? size_ : parent, tree, start(tree, rank)};
}

std::array<TreeEdge, 2> TwoTrees::to_children(Rank rank) const {
    std::array<TreeEdge, 2> edges;
    std::size_t count = 0;
    for (const int tree : {0, 1}) {
        const Links children = rank == size_ ? Links{no_rank, root(tree), no_rank} : links(tree, rank);
        if (children.left == no_rank && children.right == no_rank) continue;
        const int own = rank == size_ ? fed_before : start(tree, rank);
        for (const Rank child : {children.left, children.right}) {
            if (child != no_rank) edges.at(count++) = {child, tree, next_step(own, color(tree, child))};
        }
    }
    return edges;
}

/// The edge to the other child of the same rank, in whichever tree; its child is `no_rank` if there is none.
TwoTrees::Edge TwoTrees::sibling(Edge edge) const {
    const Rank parent = links(edge.tree, edge.child).parent;
    if (parent == no_rank) return {1 - edge.tree, root(1 - edge.tree)};
    for (const int tree : {0, 1}) {
        const Links children = links(tree, parent);
        for (const Rank child : {children.left, children.right}) {
            if (child != no_rank && (tree != edge.tree || child != edge.child)) return {tree, child};
        }
    }
    return {edge.tree, no_rank};
}

std::array<std::vector<std::uint8_t>, 2> TwoTrees::follow_paths() const {
    std::array<std::vector<std::uint8_t>, 2> colors;
    for (auto& of_tree : colors) of_tree.assign(static_cast<std::size_t>(size_), no_color);
    const auto color_of = [&](Edge edge) -> std::uint8_t& {
        return colors.at(static_cast<std::size_t>(edge.tree)).at(static_cast<std::size_t>(edge.child));
    };
    // Edges alternately share the child and the parent with the one before; a path ends where nobody shares.
    const auto follow = [&](Edge edge, bool share_child) {
        std::uint8_t color = color_of(edge);
        for (;; share_child = !share_child) {
            edge = share_child ? Edge{1 - edge.tree, edge.child} : sibling(edge);
            if (edge.child == no_rank || color_of(edge) != no_color) return;
            color = static_cast<std::uint8_t>(1 - color);
            color_of(edge) = color;
        }
    };
    const auto color_path_of = [&](Edge edge) {
        if (color_of(edge) != no_color) return;
        color_of(edge) = 1;
        follow(edge, true);
        follow(edge, false);
    };
    if (size_ > 0) color_path_of({0, root(0)});
    for (Rank rank = 0; rank < size_; ++rank) {
        for (const int tree : {0, 1}) color_path_of({tree, rank});
    }
    return colors;
}

}  // namespace rondo::topology
