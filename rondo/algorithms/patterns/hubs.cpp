// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/hubs.hpp"

#include <numeric>

namespace rondo {

Hubs::Hubs(const Call& call, Rank root_node, Rank first_leader)
    : call_(call), own_(call.place(call.ranks().first)), root_node_(root_node),
      size_(root_node == no_rank ? call.nodes() : std::max(1, call.nodes() - 1)), first_leader_(first_leader),
      leaders_(static_cast<Rank>(std::min<Count>(call.setting(hub_leaders.name), call.lanes()))),
      before_the_same_(std::lcm(Count{size_}, Count{leaders_})) {}

namespace {

/// The segments of a wave, by their hubs.
class Wave {
  public:
    Wave(const Hubs& hubs, Count number, const LedSegments& segments)
        : hubs_(hubs), first_(number * hubs.size()), segments_(segments) {}

    [[nodiscard]] Block operator[](Rank hub) const {
        const Count segment = first_ + hub;
        return segment < std::ssize(segments_) ? segments_[static_cast<std::size_t>(segment)] : Block();
    }
    /// Returns the rank that leads the segment of a hub on a node.
    [[nodiscard]] Rank leader_on(Rank node, Rank hub) const { return hubs_.leader_on(node, first_ + hub); }
    [[nodiscard]] Rank leader_at(Rank hub) const { return leader_on(hubs_.node_of(hub), hub); }

  private:
    const Hubs& hubs_;
    Count first_;
    const LedSegments& segments_;
};

/// Blocks that have come, by nodes, are added to what is there of this node's, into which the sum goes.
Schedule add_all(const Call& /*call*/, std::span<const Block> by_nodes, Rank own_node) {
    const Block own = by_nodes[static_cast<std::size_t>(own_node)];
    Block sum;
    for (const Block& next : by_nodes) {
        if (next.empty()) continue;
        const Block both = sum == own ? own : next;
        if (!sum.empty()) co_yield combine(sum, next).into(both);
        sum = both;
    }
}

}  // namespace

Schedule spread_from_hubs(const Call& /*call*/, const Hubs& hubs, Count wave_number, const LedSegments& segments) {
    const Wave wave(hubs, wave_number, segments);
    const Rank own = hubs.number(), size = hubs.size();
    if (own == no_rank) co_return;
    for (Rank distance = 1; distance < size; ++distance) {
        const Rank to = (own + distance) % size, from = (own - distance + size) % size;
        co_yield exchange(send(wave[own], wave.leader_on(hubs.node_of(to), own)),
                          receive(wave[from], wave.leader_on(hubs.node_of(from), from)));
    }
}

Schedule add_up_at_hubs(const Call& call, const Hubs& hubs, Count wave_number, const LedSegments& segments,
                        bool with_root_node) {
    const Wave wave(hubs, wave_number, segments);
    const Rank own = hubs.number(), size = hubs.size();
    if (own == no_rank) {
        for (Rank hub = 0; with_root_node && hub < size; ++hub) {
            co_yield exchange(send(wave[hub], wave.leader_at(hub)));
        }
        co_return;
    }
    std::vector<Block> by_nodes(static_cast<std::size_t>(call.nodes()));
    by_nodes[static_cast<std::size_t>(hubs.node())] = wave[own];
    const auto room_for = [&](Rank node) {
        Block& arrival = by_nodes[static_cast<std::size_t>(node)];
        if (!wave[own].empty()) arrival = call.scratch(wave[own].count);
        return arrival;
    };
    for (Rank distance = 1; distance < size; ++distance) {
        const Rank to = (own + distance) % size, from = hubs.node_of((own - distance + size) % size);
        const Block arrival = room_for(from);
        co_yield exchange(send(wave[to], wave.leader_at(to)), receive(arrival, wave.leader_on(from, own)));
    }
    if (with_root_node && hubs.root_node() != no_rank) {
        const Block arrival = room_for(hubs.root_node());
        co_yield exchange(receive(arrival, wave.leader_on(hubs.root_node(), own)));
    }
    Schedule adding = add_all(call, by_nodes, hubs.node());
    co_yield steps_of(adding);
}

}  // namespace rondo
