// SPDX-License-Identifier: BSD-3-Clause
// Nodes as the processors of a k-ported algorithm: a leader has what its node has, and the ranks of the node are its
// ports. [traff2020kported], section 2.3.
#pragma once

#include <algorithm>
#include <vector>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/call.hpp"
#include "rondo/topology/divided_ranges.hpp"

namespace rondo {

inline constexpr Parameter node_ports = {.name = "ports",
                                         .summary = "ranks of a node that send to other nodes at a time",
                                         .minimum = 1,
                                         .maximum = 32,
                                         .standard = 2};

inline constexpr Parameter receiving_node_ports = {.name = "ports",
                                                   .summary = "ranks of a node that receive from other nodes at a time",
                                                   .minimum = 1,
                                                   .maximum = 32,
                                                   .standard = 2};

class NodeRanges {
  public:
    NodeRanges(const Call& call, Rank ports)
        : call_(call), root_(call.facts().root), root_node_(call.place(root_).node),
          node_(call.place(call.ranks().first).node),
          place_(topology::place_in_ranges(node_, root_node_, call.nodes(), ports)) {
        if (place_.parent == no_rank) return;
        const auto parent = topology::place_in_ranges(place_.parent, root_node_, call.nodes(), ports);
        for (const auto& round : parent.rounds) {
            const auto own = std::ranges::find(round, node_, &topology::RankRange::root);
            if (own != round.end()) parent_ = port(place_.parent, static_cast<Rank>(own - round.begin()));
        }
    }

    /// Of this node among all.
    [[nodiscard]] const topology::PlaceInRanges& place() const { return place_; }
    [[nodiscard]] Rank node() const { return node_; }
    /// The rank of the parent node that has to do with this node; `no_rank` on the root's node.
    [[nodiscard]] Rank parent() const { return parent_; }
    /// The rank that has what a node has: the root, or the first one.
    [[nodiscard]] Rank leader(Rank node) const { return node == root_node_ ? root_ : call_.rank_at(node, 0); }
    /// The rank of a node that has to do with the range of this number in a round: they take turns, the leader first.
    [[nodiscard]] Rank port(Rank node, Rank number) const {
        return call_.rank_at(node, (call_.place(leader(node)).number + number) % call_.ranks_on_node(node));
    }
    /// Which port of its node this rank is, if there are as many as ranks; the leader is number 0.
    [[nodiscard]] Rank place_on_node() const {
        const Rank behind = call_.place(call_.ranks().first).number - call_.place(leader(node_)).number;
        return behind < 0 ? behind + call_.ranks_on_node() : behind;
    }
    /// Ranks of this node by such numbers: `first`, `first + step` and so on, up to, without, `last`. As RankMap takes
    /// them.
    [[nodiscard]] std::vector<Rank> on_node(Rank first, Rank step, Rank last) const {
        std::vector<Rank> ranks;
        for (Rank number = first; number < last; number += step) ranks.push_back(call_.group()(port(node_, number)));
        return ranks;
    }

  private:
    const Call& call_;
    Rank root_, root_node_, node_;
    topology::PlaceInRanges place_;
    Rank parent_ = no_rank;
};

}  // namespace rondo
