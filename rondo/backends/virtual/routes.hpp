// SPDX-License-Identifier: BSD-3-Clause
// The wires of flows: out of a node, through the links of a network, and into another node.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rondo/backends/virtual/network.hpp"

namespace rondo::virtual_machine {

/// The wires that each flow goes through. The wires of nodes have numbers, out and in by turns; behind those come the
/// links that can limit: more nodes send through them, and to more, than they carry. The others are left out, because
/// messages that share them would each seem to get no more than an equal share, though none wants it.
class Routes {
  public:
    [[nodiscard]] static constexpr std::uint32_t egress(Rank node) { return 2 * static_cast<std::uint32_t>(node); }
    [[nodiscard]] static constexpr std::uint32_t ingress(Rank node) { return egress(node) + 1; }

    /// Forgets all flows. Borrows the network until `end`.
    void begin(const Network& network);
    /// The next flow.
    void add(Rank from_node, Rank to_node);
    /// The capacities of the links that are wires, in the order of their numbers.
    std::vector<double> end();
    void clear();

    /// True if there is no network. Then each flow has the wires of its two nodes.
    [[nodiscard]] bool empty() const { return extra_.empty(); }
    /// The number of the first leg of a flow, among the legs of all flows.
    [[nodiscard]] std::uint32_t first_leg(std::uint32_t flow) const { return first_[flow]; }
    [[nodiscard]] std::uint32_t legs() const { return static_cast<std::uint32_t>(wires_.size()); }
    [[nodiscard]] std::uint32_t wire(std::uint32_t leg) const { return wires_[leg]; }
    /// The seconds that the links of a flow add to its latency.
    [[nodiscard]] double extra(std::uint32_t flow) const { return extra_[flow]; }

  private:
    /// Nodes, up to one more than a link carries.
    class Some {
      public:
        void add(Rank node, double capacity);
        [[nodiscard]] bool exceed(double capacity) const { return static_cast<double>(nodes_.size()) > capacity; }

      private:
        std::vector<Rank> nodes_;
    };
    struct Used {
        double capacity;
        Some from, to;
    };

    [[nodiscard]] std::uint32_t number_of(const NetworkLink& link);

    const Network* network_ = nullptr;
    std::vector<std::uint32_t> first_;                          // of each flow, and the end
    std::vector<std::uint32_t> wires_;                          // of each leg
    std::vector<double> extra_;                                 // of each flow
    std::vector<NetworkLink> route_;                            // of one flow
    std::vector<Used> used_;                                    // links, in the order in which they are seen
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of those
};

}  // namespace rondo::virtual_machine
