// SPDX-License-Identifier: BSD-3-Clause
// Two-tree algorithms in which no rank sends and receives at the same time: couples of two ranks play the numbers of
// the trees. [sanders2009two], section 5.2. Other than there, both ranks of a couple talk to others: the left one to
// the left child, the right one to the right child, and one of them, the top, to the parent. Which one that is differs
// between the trees, so that it is never the one who talks to a child in the same step. Then the couple is two ranks of
// a larger tree, which is in order, too, and each of them is busy for as long as the other.
#pragma once

#include <array>

#include "rondo/algorithms/patterns/two_tree_steps.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo {

inline constexpr Parameter simplex_parameter = {
    .name = "simplex",
    .summary = "1: no rank sends and receives in the same step, for half-duplex networks",
    .minimum = 0,
    .maximum = 1,
    .standard = 0,
};

/// Two ranks are no couple and somebody else, and only one of them sends.
[[nodiscard]] inline bool plays_in_couples(const Call& call) {
    return call.setting(simplex_parameter.name) == 1 && call.ranks().second > 2;
}

/// Steps of the numbers 0 to 2*couples-1, of which 2c and 2c+1 are couple c, and of number 2*couples, which feeds the
/// trees as in a broadcast. A passage's peer is a couple.
class CoupleSteps {
  public:
    CoupleSteps(const Call& call, Block vector, Rank couples, topology::SecondTree second, topology::OddRank odd,
                Rank number)
        : number_(number), couples_(couples), steps_(call, vector, couples, second, odd, number / 2) {
        for (const int tree : {0, 1}) {
            is_top_.at(index(tree)) = is_feeder() || is_top_left(tree, couple()) == is_left();
        }
    }

    [[nodiscard]] const TwoTreeSteps& steps() const { return steps_; }
    [[nodiscard]] Rank couple() const { return number_ / 2; }
    [[nodiscard]] bool is_feeder() const { return number_ == 2 * couples_; }
    /// True if this is the left number of its couple. The feeder counts as one: both trees are below it on the left.
    [[nodiscard]] bool is_left() const { return number_ % 2 == 0; }
    [[nodiscard]] Rank partner() const { return is_feeder() ? no_rank : number_ ^ 1; }
    [[nodiscard]] bool is_top(int tree) const { return is_top_.at(index(tree)); }
    /// Does a child of the couple talk to this number?
    [[nodiscard]] bool has_child(int tree) const {
        const topology::TwoTrees::Links links = steps_.trees().links(tree, couple());
        return (is_left() ? links.left : links.right) != no_rank;
    }

    /// The number of the parent's couple that exchanges messages with this one; no_rank if the partner does that.
    [[nodiscard]] Rank parent(const Passage& up) const {
        if (!up.happens() || !is_top(up.tree)) return no_rank;
        if (up.peer == couples_) return 2 * couples_;
        return 2 * up.peer + (steps_.trees().links(up.tree, up.peer).left == couple() ? 0 : 1);
    }
    /// The number of the child's couple that exchanges messages with this one; no_rank if the partner does that.
    [[nodiscard]] Rank child(const Passage& down) const {
        if (!down.happens()) return no_rank;
        if (!is_feeder() && steps_.is_left_child(down) != is_left()) return no_rank;
        return 2 * down.peer + (is_top_left(down.tree, down.peer) ? 0 : 1);
    }

  private:
    static std::size_t index(int tree) { return static_cast<std::size_t>(tree); }

    /// Is the left one the top? Not if it talks to a child in the steps of the edge to the parent. Where nobody does,
    /// it is in one of the trees.
    [[nodiscard]] bool is_top_left(int tree, Rank couple) const {
        const topology::TwoTrees& trees = steps_.trees();
        const int steps = trees.to_parent(tree, couple).start % 2;
        bool is_left_top = tree == 0;
        for (const topology::TreeEdge& edge : trees.to_children(couple)) {
            if (!edge.exists()) continue;
            const bool is_left_child = trees.links(edge.tree, couple).left == edge.peer;
            if (edge.start % 2 == steps) return !is_left_child;
            is_left_top = is_left_child;
        }
        return is_left_top;
    }

    Rank number_, couples_;
    TwoTreeSteps steps_;
    std::array<bool, 2> is_top_{};
};

/// The couples of an operation with a root, which feeds them. If the number of ranks is even, one is left over, beside
/// the root in the order of the ranks, if the root is the first or the last of them: nobody else talks to that one.
class CouplesOfRoot {
  public:
    explicit CouplesOfRoot(const Call& call)
        : circle_(call.facts().root, call.ranks().second - 1, call.ranks().second), size_(call.ranks().second),
          place_(circle_.place_of(call.ranks().first)), is_root_last_(call.facts().root == size_ - 1) {}

    [[nodiscard]] Rank couples() const { return (size_ - 1) / 2; }
    [[nodiscard]] bool is_root() const { return place_ == size_ - 1; }
    [[nodiscard]] bool is_left_over() const { return has_left_over() && place_ == left_over(); }
    /// Does the root come after the others in the order of the ranks?
    [[nodiscard]] bool is_root_last() const { return is_root_last_; }
    /// The number of this rank. A rank that is left over has the root's.
    [[nodiscard]] Rank number() const { return is_root() || is_left_over() ? 2 * couples() : place_ - shift(); }
    [[nodiscard]] Rank rank_of(Rank number) const {
        if (number == no_rank) return no_rank;
        return circle_.rank_at(number == 2 * couples() ? size_ - 1 : number + shift());
    }
    /// The rank with whom the root shares what is not the trees'; the root for that one.
    [[nodiscard]] Rank beside_root() const {
        if (!has_left_over()) return no_rank;
        return circle_.rank_at(is_root() ? left_over() : size_ - 1);
    }

  private:
    [[nodiscard]] bool has_left_over() const { return size_ % 2 == 0; }
    [[nodiscard]] Rank left_over() const { return is_root_last_ ? size_ - 2 : 0; }
    [[nodiscard]] Rank shift() const { return has_left_over() && !is_root_last_ ? 1 : 0; }

    topology::Rotation circle_;
    Rank size_, place_;
    bool is_root_last_;
};

}  // namespace rondo
