// SPDX-License-Identifier: BSD-3-Clause
// On which node each rank of a communicator is, and the groups that follow from it: the ranks of a node, and the lanes.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "rondo/core/rank_map.hpp"

namespace rondo {

/// Of a world on one node whose ranks share memory unasked. Each has a queue of 4 KiB for each other: they grow with
/// the square of the ranks. (More than two were never measured with a processor for each.)
inline constexpr Rank most_sharing_ranks = 16;

/// Nodes are numbered in the order of their first ranks; the ranks of a node in their own order: its number 0 is its
/// leader. Lane i has the ranks with number i, one on each node. There are as many lanes as the smallest node has
/// ranks: the ranks of larger nodes beyond that are in none, and take part through their nodes only.
class Placement {
  public:
    /// A rank's node, and its number there.
    struct Place {
        Rank node, number;
        [[nodiscard]] friend constexpr bool operator==(const Place& a, const Place& b) = default;
    };

    /// Every node has as many consecutive ranks. Two numbers, whatever the size.
    [[nodiscard]] static Placement regular(Rank nodes, Rank ranks_per_node);
    /// By any numbers that tell nodes apart, one for each rank. Tables of all ranks, unless that is regular.
    [[nodiscard]] static Placement of(std::span<const Rank> node_of);

    /// This placement with its groups of ranks taken for domains of one node: parts in which ranks are near each other.
    /// All that a placement says of nodes, it then says of domains. A single group is the whole node, and groups of one
    /// rank each bring no rank near another: for both, this is a node without domains.
    [[nodiscard]] Placement as_domains() const;

    /// Every run of consecutive ranks of one node as a node of its own: the nodes are in rank order.
    [[nodiscard]] Placement runs() const;

    /// True if all ranks are on one node, and what counts as nodes here are its domains.
    [[nodiscard]] bool is_of_domains() const { return is_of_domains_; }
    [[nodiscard]] Rank size() const { return size_; }  ///< ranks
    [[nodiscard]] Rank nodes() const { return nodes_; }
    [[nodiscard]] Rank lanes() const { return lanes_; }                ///< ranks of the smallest node
    [[nodiscard]] Rank most_on_node() const { return most_on_node_; }  ///< ranks of the largest
    [[nodiscard]] bool is_regular() const { return places_.empty(); }
    /// True if every rank of a node comes before every rank of the next: a reduction of reductions on nodes, in their
    /// order, is in rank order.
    [[nodiscard]] bool in_rank_order() const { return in_rank_order_; }

    [[nodiscard]] Place place(Rank rank) const;
    /// The ranks of a node. Borrows from this placement, as do lanes.
    [[nodiscard]] RankMap on_node(Rank node) const;
    /// The ranks of a lane, by node.
    [[nodiscard]] RankMap on_lane(Rank lane) const;

    friend bool operator==(const Placement& a, const Placement& b);

  private:
    Rank size_ = 0, nodes_ = 0, lanes_ = 0, most_on_node_ = 0;
    bool in_rank_order_ = true, is_of_domains_ = false;
    // Empty if regular.
    std::vector<Place> places_;  // of each rank
    std::vector<Rank> by_node_;  // all ranks, node by node
    std::vector<Rank> first_;    // of each node in `by_node_`, and the end
    std::vector<Rank> by_lane_;  // the ranks of all lanes, lane by lane
};

/// How some ranks are spread over nodes, by what is known of them. Both ends of a range are possible.
struct Spread {
    struct Range {
        Rank least = 0, most = 0;
        [[nodiscard]] constexpr bool is_certain() const { return least == most; }
    };
    Range nodes;                 ///< that have some of them; 0: nobody knows
    Range fewest_on_node;        ///< of them, on the node with the fewest; 0: nobody knows
    Range most_on_node;          ///< on the node with the most
    bool in_rank_order = false;  ///< those of a node follow one another for sure
    /// How many domains have some of the ranks, where all are on one node. It is 1 if they are on several nodes, or if
    /// no domains are known.
    Range domains = {1, 1};

    /// Of ranks of which it is known where each is.
    [[nodiscard]] static Spread of(const Placement& placement) {
        if (placement.is_of_domains()) {
            const Range all = {placement.size(), placement.size()};
            return {.nodes = {1, 1},
                    .fewest_on_node = all,
                    .most_on_node = all,
                    .in_rank_order = true,
                    .domains = {placement.nodes(), placement.nodes()}};
        }
        return {.nodes = {placement.nodes(), placement.nodes()},
                .fewest_on_node = {placement.lanes(), placement.lanes()},
                .most_on_node = {placement.most_on_node(), placement.most_on_node()},
                .in_rank_order = placement.in_rank_order()};
    }
    /// Every node has as many.
    [[nodiscard]] constexpr bool is_even() const {
        return fewest_on_node.is_certain() && most_on_node.is_certain() && fewest_on_node.most == most_on_node.most;
    }
    /// Of any `ranks` ranks on some of so many nodes, with so many on each at most.
    [[nodiscard]] static constexpr Spread possible(Rank ranks, Rank all_nodes, Rank most) {
        const auto least = [ranks](Rank of_each) { return (ranks + of_each - 1) / of_each; };
        const Range nodes = {least(most), std::min(ranks, all_nodes)};
        return {.nodes = nodes,
                .fewest_on_node = {nodes.most == 1 ? ranks : 1, ranks / nodes.least},
                .most_on_node = {least(all_nodes), std::min(ranks, most)}};
    }
};

}  // namespace rondo
