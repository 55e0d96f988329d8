// SPDX-License-Identifier: BSD-3-Clause
// The shape of a network: which links messages share on their way from node to node, besides the lanes of both nodes.
// All shapes are one idea: a route, a list of links for each pair of places, and links that carry so much.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::virtual_machine {

/// One direction of a link between switches or nodes.
struct NetworkLink {
    std::uint64_t number;  ///< tells the links of a shape apart
    double capacity;       ///< how many nodes can send through it together, each at its full rate

    friend bool operator==(const NetworkLink&, const NetworkLink&) = default;
};

/// Two levels [leiserson1985fat]: each leaf switch has so many nodes, and its link to the upper level carries
/// 1/taper of what they can send together. The upper level itself never limits.
///
/// [leiserson1985fat] C. E. Leiserson, Fat-trees: universal networks for hardware-efficient supercomputing, IEEE
/// Transactions on Computers C-34(10), 1985.
struct FatTree {
    Rank nodes = 1;
    double taper = 1;
};

/// Groups of so many nodes, each joined to each other one by one link [kim2008technology]. Routes are minimal: that
/// link. A group itself never limits.
///
/// [kim2008technology] J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-driven, highly-scalable dragonfly topology,
/// ISCA 2008.
struct Dragonfly {
    Rank nodes;
    double global;  ///< capacity of the link from one group to another
};

/// Nodes on a grid that is closed in each dimension. Messages go along one dimension after the other, the first one
/// first, and there the shorter way round [dally1987deadlock]. Where both are as long, those from even places go up.
///
/// [dally1987deadlock] W. J. Dally, C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection
/// networks, IEEE Transactions on Computers C-36(5), 1987.
struct Torus {
    std::vector<Rank> lengths;  ///< the first dimension is that of neighbouring places
    double link = 1;            ///< capacity of each
};

inline constexpr Rank most_places = 1 << 24;

/// Nodes have places, numbered from 0 on, group by group.
struct NetworkShape {
    std::variant<FatTree, Dragonfly, Torus> kind;
    Rank groups = 0;  ///< 0: as many as a job needs; a torus has its own number
    double hop = 0;   ///< what each link on a message's way adds to its latency

    /// A row of so many places is a group: the nodes of a leaf switch, or those of a torus without its last dimension.
    [[nodiscard]] Rank group() const;
    /// How many places there are; `most_places` if nobody says.
    [[nodiscard]] Count places() const;
    /// The links of a message's way, in their order, are added.
    void route(Rank from, Rank to, std::vector<NetworkLink>& links) const;
    /// True if it makes no difference where among these places a message comes from and goes to.
    [[nodiscard]] bool is_flat(const std::vector<Rank>& at) const;
};

/// The nodes of a job in a network.
class Network {
  public:
    /// `places`: of each node. Throws Error for one that is taken, or that the shape does not have.
    Network(NetworkShape shape, std::vector<Rank> places);

    [[nodiscard]] Rank nodes() const { return static_cast<Rank>(places_.size()); }
    [[nodiscard]] const NetworkShape& shape() const { return shape_; }
    /// True if messages between these nodes take what they would take without a shape.
    [[nodiscard]] bool is_flat() const { return shape_.is_flat(places_); }
    void route(Rank from_node, Rank to_node, std::vector<NetworkLink>& links) const {
        shape_.route(places_[static_cast<std::size_t>(from_node)], places_[static_cast<std::size_t>(to_node)], links);
    }

  private:
    NetworkShape shape_;
    std::vector<Rank> places_;
};

}  // namespace rondo::virtual_machine
