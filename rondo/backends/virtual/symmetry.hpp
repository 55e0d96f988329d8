// SPDX-License-Identifier: BSD-3-Clause
// Schedules that are the same from every node: then all nodes do the same at the same times, and one of them, which
// sends to itself what it sends to others, shows what all do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rondo/backends/virtual/plan_shape.hpp"
#include "rondo/backends/virtual/problem.hpp"

namespace rondo::virtual_machine {

/// A way to move every node to another one: numbers of nodes are added digit by digit, without a carry. With one digit
/// these are the rotations, with digits of two the bitwise differences; most schedules that are regular are so for one
/// of them.
class Translations {
  public:
    /// All that may be worth a try on so many nodes.
    [[nodiscard]] static std::vector<Translations> of(Rank nodes);

    [[nodiscard]] Rank sum(Rank node, Rank by) const { return combined(node, by, 1); }
    [[nodiscard]] Rank difference(Rank node, Rank by) const { return combined(node, by, -1); }
    friend bool operator==(const Translations&, const Translations&) = default;

  private:
    [[nodiscard]] Rank combined(Rank node, Rank by, int sign) const;

    std::vector<Rank> digits_;  // how many values each has, the lowest first
};

/// A peer, as all ranks with the same number on their nodes have it.
struct PeerForAll {
    Rank number;                ///< on its node
    std::uint32_t counterpart;  ///< what number such a rank has among the peers of its peer
};

struct RankForAll {
    const PlanShape* shape;
    std::vector<PeerForAll> peers;
};

/// By the numbers of ranks on nodes.
struct NodeForAll {
    std::vector<RankForAll> ranks;
    Count messages = 0;  ///< that it sends

    /// Nothing if the schedule differs from node to node, or if a node sends more than `most` messages. What is looked
    /// at is every rank of the first node and some of others, whose plans and peers have to be the same.
    static std::optional<NodeForAll> of(const Problem& problem, PlanShapes& shapes, Count most);
};

/// That a rank sends.
[[nodiscard]] Count messages_of(const Plan& plan);

}  // namespace rondo::virtual_machine
