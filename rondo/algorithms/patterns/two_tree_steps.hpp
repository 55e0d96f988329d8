// SPDX-License-Identifier: BSD-3-Clause
// What the two-tree algorithms share: one rank's part in a pipeline over two trees, step by step as in a broadcast. A
// reduction goes through the same steps backwards. [sanders2009two], section 4.
#pragma once

#include <algorithm>
#include <array>

#include "rondo/core/pipeline.hpp"
#include "rondo/topology/two_tree.hpp"

namespace rondo {

inline constexpr Parameter second_tree_parameter = {
    .name = "second",
    .summary = "how the second tree is made from the first: 0 by mirroring, 1 by shifting",
    .minimum = 0,
    .maximum = 1,
    .standard = 0,
};

inline topology::SecondTree second_tree(const Call& call) {
    return static_cast<topology::SecondTree>(call.setting(second_tree_parameter.name));
}

/// A block over an edge in one step; without a peer, nothing passes.
struct Passage {
    Rank peer = no_rank;  ///< in the numbering of the trees
    int tree = 0;
    Count block = 0;  ///< of the half of the vector that the tree serves

    [[nodiscard]] bool happens() const { return peer != no_rank; }
};

class TwoTreeSteps {
  public:
    /// The part of number `place` in trees over numbers 0 to trees_size-1; `trees_size` itself feeds them.
    TwoTreeSteps(const Call& call, Block vector, Rank trees_size, topology::SecondTree second, topology::OddRank odd,
                 Rank place)
        : place_(place), trees_(trees_size, second, odd),
          segments_{segments_of_half(call, vector, 0), segments_of_half(call, vector, 1)} {
        if (place < trees_size) parents_ = {trees_.to_parent(0, place), trees_.to_parent(1, place)};
        if (trees_size > 0) children_ = trees_.to_children(place);
        for (const auto& edges : {parents_, children_}) {
            for (const topology::TreeEdge& edge : edges) {
                const Count blocks = segments(edge.tree).size();
                if (edge.exists() && blocks > 0) size_ = std::max(size_, edge.start + 2 * blocks - 1);
            }
        }
    }

    /// Steps until this rank's part is over.
    [[nodiscard]] Count size() const { return size_; }

    [[nodiscard]] const topology::TwoTrees& trees() const { return trees_; }
    [[nodiscard]] const Segments& segments(int tree) const { return segments_.at(static_cast<std::size_t>(tree)); }

    // By the colours at most one edge to a parent, and one to a child, is used in a step.
    [[nodiscard]] Passage from_parent(Count step) const { return passage(parents_, step); }
    [[nodiscard]] Passage to_child(Count step) const { return passage(children_, step); }

    /// What passes, in the vector that was given.
    [[nodiscard]] Block block(const Passage& passage) const {
        return passage.happens() ? segments(passage.tree)[passage.block] : Block();
    }

    /// True if both children are in the same tree and this one's block comes first. Backwards it comes second.
    [[nodiscard]] bool is_first_of_two(const Passage& passage) const {
        if (!children_[1].exists() || children_[0].tree != children_[1].tree) return false;
        const bool is_front = children_[0].peer == passage.peer;
        return (children_[0].start < children_[1].start) == is_front;
    }

    /// Is the other end the left child?
    [[nodiscard]] bool is_left_child(const Passage& passage) const {
        return trees_.links(passage.tree, place_).left == passage.peer;
    }
    /// Does this rank have a child in the tree?
    [[nodiscard]] bool has_child(int tree) const {
        const topology::TwoTrees::Links links = trees_.links(tree, place_);
        return links.left != no_rank || links.right != no_rank;
    }

    /// The half of a vector that a tree serves, in segments.
    [[nodiscard]] static Segments segments_of_half(const Call& call, Block vector, int tree) {
        return call.segments(Parts(vector, 2)[tree]);
    }

  private:
    using Edges = std::array<topology::TreeEdge, 2>;

    [[nodiscard]] Passage passage(const Edges& edges, Count step) const {
        for (const topology::TreeEdge& edge : edges) {
            const Count block = edge.block(step);
            if (edge.exists() && block >= 0 && block < segments(edge.tree).size()) return {edge.peer, edge.tree, block};
        }
        return {};
    }

    Rank place_;
    topology::TwoTrees trees_;
    std::array<Segments, 2> segments_;
    Edges parents_, children_;
    Count size_ = 0;
};

}  // namespace rondo
