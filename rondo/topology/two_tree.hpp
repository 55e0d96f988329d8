// SPDX-License-Identifier: BSD-3-Clause
// Two binary trees over the same ranks, in which the inner ranks of the one are the leaves of the other, with edges in
// two colours: no rank has two parents, nor two children, by edges of the same colour. If edges of colour j mod 2 are
// used in step j, a rank sends and receives at most one block in every step. [sanders2009two], sections 3 and 5.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::topology {

/// How the second tree is made from the first.
enum class SecondTree : std::uint8_t {
    mirroring,  ///< each rank computes its part in O(log size)
    shifting,   ///< each rank colours all edges, in O(size)
};

/// Where the last of an odd number of ranks stands when trees are mirrored.
enum class OddRank : std::uint8_t {
    leaf,  ///< in both trees: the second one is not in order then
    root,  ///< of both trees, which stay in order; one level more
};

/// Blocks over one edge, as in a broadcast: the first in step `start`, the others in every second step after it.
struct TreeEdge {
    Rank peer = no_rank;  ///< the other end; `no_rank`: there is no such edge
    int tree = 0;         ///< to which of the two trees the edge belongs
    int start = 0;

    [[nodiscard]] bool exists() const { return peer != no_rank; }
    /// Which block passes in a step; negative before the first one.
    [[nodiscard]] Count block(Count step) const {
        return step >= start && (step - start) % 2 == 0 ? (step - start) / 2 : -1;
    }
};

class TwoTrees {
  public:
    /// Over ranks 0 to size-1. Mirrored trees of an odd size need `odd`; shifted ones do not.
    explicit TwoTrees(Rank size, SecondTree second = SecondTree::mirroring, OddRank odd = OddRank::leaf);

    [[nodiscard]] Rank size() const { return size_; }

    /// Who stands around a rank in a tree; `no_rank` for who does not exist.
    struct Links {
        Rank parent = no_rank, left = no_rank, right = no_rank;
    };
    [[nodiscard]] Links links(int tree, Rank rank) const;
    [[nodiscard]] Rank root(int tree) const;

    /// The colour of the edge from the parent; for the root of a tree, of the edge by which it is fed from outside.
    [[nodiscard]] int color(int tree, Rank rank) const;

    /// The edge from the parent. The roots of the trees are fed by "rank" `size()`, the root of a broadcast.
    [[nodiscard]] TreeEdge to_parent(int tree, Rank rank) const;
    /// The edges to the children of a rank, in both trees together; of `size()` those to the roots.
    [[nodiscard]] std::array<TreeEdge, 2> to_children(Rank rank) const;

    /// All colours by following paths of edges that must differ, by [tree][rank]: the proof of lemma 1 as a program.
    [[nodiscard]] std::array<std::vector<std::uint8_t>, 2> follow_paths() const;

  private:
    /// The edge from the parent, named by the child.
    struct Edge {
        int tree;
        Rank child;
    };

    [[nodiscard]] Links core_links(int tree, Rank rank) const;
    [[nodiscard]] Rank core_root(int tree) const;
    [[nodiscard]] int mirrored_color(int tree, Rank rank) const;
    [[nodiscard]] int start(int tree, Rank rank) const;
    [[nodiscard]] Edge sibling(Edge edge) const;

    Rank size_;
    Rank core_;  // ranks that make the trees; if there is one more, it is put to them afterwards
    SecondTree second_;
    OddRank odd_;
    std::array<std::vector<std::uint8_t>, 2> colors_;  // of shifted trees
};

}  // namespace rondo::topology
