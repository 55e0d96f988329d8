// SPDX-License-Identifier: BSD-3-Clause
// The parts of a vector on nodes: who has them there, and how they lie in a vector that is sorted by nodes.
#pragma once

#include <span>
#include <vector>

#include "rondo/core/call.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

/// From one division of a vector among the ranks of `node` to another. What this rank has stands in `held`, its part of
/// `before`, and lands in `wanted`, its part of `after`; both divide the same place, which need not exist.
Schedule divide_anew(const Call& node, Parts before, Block held, Parts after, Block wanted);

/// A vector with a part for each rank, sorted by nodes: what belongs to a node is one block, wherever its ranks are.
/// Where nodes are in rank order, this is the vector as it is.
class NodeOrder {
  public:
    /// `parts`: in rank order.
    NodeOrder(const Call& call, const Parts& parts);

    /// What belongs to a node, in a vector sorted by nodes.
    [[nodiscard]] Block of_node(Block sorted, Rank node) const { return of_nodes(sorted, node, node + 1); }
    /// Of the nodes from `first` up to, without, `last`.
    [[nodiscard]] Block of_nodes(Block sorted, Rank first, Rank last) const {
        const Count start = nodes_[static_cast<std::size_t>(first)];
        return sorted.part(start, nodes_[static_cast<std::size_t>(last)] - start);
    }
    /// Where the blocks of the nodes start, as Parts has it.
    [[nodiscard]] std::span<const Count> nodes() const { return nodes_; }
    /// Within the block of this rank's node, where the parts of its ranks start.
    [[nodiscard]] std::span<const Count> ranks() const { return ranks_; }

  private:
    std::vector<Count> nodes_, ranks_;
};

/// Copies all parts from where they stand in rank order to a vector sorted by nodes.
Schedule sort_by_nodes(const Call& call, Parts parts, Block sorted);
/// And back.
Schedule sort_by_ranks(const Call& call, Block sorted, Parts parts);

/// In an all-to-all of equal parts, copies parts from these ranks to their places in the output. They stand one after
/// the other at the distance of `parts`, whose first block is the first of them.
Schedule put_parts(const Call& call, BlockRow parts, std::span<const Rank> senders);

}  // namespace rondo
