// SPDX-License-Identifier: BSD-3-Clause
// Segments that cross the network by way of a hub: one node that hands a segment on to all others, or adds up what all
// of them have of it. Each segment has another hub, so all nodes carry as much. On every node the same few ranks take
// turns to lead, a segment each, so none of them does all the work.
//
// As many segments as there are hubs make a wave, in which every hub has one. Waves overlap, because schedules are run
// as dataflow.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "rondo/core/call.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {

inline constexpr Parameter hub_leaders = {.name = "leaders",
                                          .summary = "ranks of a node that take turns to speak to other nodes",
                                          .minimum = 1,
                                          .maximum = 1024,
                                          .standard = 4};

class Hubs {
  public:
    /// All nodes are hubs.
    static Hubs everywhere(const Call& call) { return {call, no_rank, 0}; }
    /// All but the root's node, whose network is busy with what it gives or gets. The root leads first there, if it is
    /// in a lane.
    static Hubs around_root(const Call& call) {
        const auto [node, number] = call.place(call.facts().root);
        return {call, node, number < call.lanes() ? number : 0};
    }

    /// Hubs, and segments of a wave.
    [[nodiscard]] Rank size() const { return size_; }
    /// The node of the root; no_rank if every node is a hub.
    [[nodiscard]] Rank root_node() const { return root_node_; }
    /// The node of this rank.
    [[nodiscard]] Rank node() const { return own_.node; }
    /// Its number among the hubs; no_rank if it is none.
    [[nodiscard]] Rank number() const { return own_.node == root_node_ ? no_rank : number_of(own_.node); }
    [[nodiscard]] Rank number_of(Rank node) const {
        return root_node_ == no_rank ? node : (node - root_node_ - 1 + call_.nodes()) % call_.nodes();
    }
    [[nodiscard]] Rank node_of(Rank number) const {
        return root_node_ == no_rank ? number : (root_node_ + 1 + number) % call_.nodes();
    }

    /// The parts of the vector that travel, none longer than the segment that is set: as many for each hub, where most
    /// of the hubs would have one anyway.
    [[nodiscard]] Parts segments(Block vector) const {
        Count number = call_.segments(vector).size();
        if (2 * number > size_) number = std::min(waves(number) * size_, vector.count);
        return {vector, number};
    }
    [[nodiscard]] Count waves(Count segments) const { return (segments + size_ - 1) / size_; }

    /// The number, on every node, of the rank that leads. Another one for each segment in turn, and for those of each
    /// hub.
    [[nodiscard]] Rank leader(Count segment) const {
        const Count turn = (segment + segment / before_the_same_) % leaders_;
        return static_cast<Rank>((first_leader_ + turn) % call_.lanes());
    }
    [[nodiscard]] Rank leader_on(Rank node, Count segment) const { return call_.rank_at(node, leader(segment)); }
    /// True if this rank leads the segment.
    [[nodiscard]] bool lead(Count segment) const { return leader(segment) == own_.number; }

  private:
    Hubs(const Call& call, Rank root_node, Rank first_leader);

    const Call& call_;
    Placement::Place own_;
    Rank root_node_, size_, first_leader_, leaders_;
    Count before_the_same_;  // segments until a leader and a hub would meet again
};

/// The blocks of a rank for the segments that it leads, by number. Blocks of other segments are empty.
using LedSegments = std::vector<Block>;

/// Each hub sends what it has of a wave to all other hubs, and gets theirs.
Schedule spread_from_hubs(const Call& call, const Hubs& hubs, Count wave, const LedSegments& segments);

/// Adds up at the hubs of a wave what all nodes have of it. The sums take the place of what the hubs had. The root's
/// node takes part only if `with_root_node`. In the order of nodes, unless the operator commutes.
Schedule add_up_at_hubs(const Call& call, const Hubs& hubs, Count wave, const LedSegments& segments,
                        bool with_root_node);

}  // namespace rondo
