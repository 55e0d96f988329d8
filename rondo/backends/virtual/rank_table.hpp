// SPDX-License-Identifier: BSD-3-Clause
// All ranks whose plans run in virtual time, and what they share memory for: their actions, peers, and what is ready.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rondo/backends/virtual/rank_board.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {

class RankTable {
  public:
    /// Of as many ranks, on so many nodes; `has_nodes`: some nodes have several of them.
    void reserve(Rank ranks, Rank nodes, bool has_nodes, const FlightLimits& limits) {
        ranks_.reserve(static_cast<std::size_t>(ranks));
        nodes_ = nodes;
        has_nodes_ = has_nodes;
        limits_ = limits;
    }
    /// The next rank, with the peers that its plan numbers. The shape is one of `shapes`.
    void add(const PlanShape& shape, std::span<const Rank> peers, Rank node) {
        VirtualRank& state = ranks_.emplace_back();
        state.shape = &shape;
        state.first = actions();
        state.first_peer = static_cast<std::uint32_t>(peers_.size());
        state.first_word = words_;
        state.node = node;
        if (Count{actions()} + shape.size() > most_actions) throw Error("more actions than can be numbered");
        progress_.resize(progress_.size() + shape.size());
        peers_.insert(peers_.end(), peers.begin(), peers.end());
        words_ += static_cast<std::uint32_t>(shape.ready_at_once.size());
    }
    [[nodiscard]] PlanShapes& shapes() { return shapes_; }

    [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
    [[nodiscard]] std::uint32_t actions() const { return static_cast<std::uint32_t>(progress_.size()); }
    [[nodiscard]] VirtualRank& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const VirtualRank& at(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const ShapedAction& action(const Site& site) const { return at(site.rank).shape->actions[site.own]; }
    /// In the numbering of all actions.
    [[nodiscard]] std::uint32_t index_of(const Site& site) const { return at(site.rank).first + site.own; }
    [[nodiscard]] Progress& progress(const Site& site) { return progress_[index_of(site)]; }
    [[nodiscard]] const Progress& progress(const Site& site) const { return progress_[index_of(site)]; }
    /// The other end of a transfer.
    [[nodiscard]] Rank peer(const Site& site) const { return peers_[flow_of(site)]; }
    [[nodiscard]] std::span<const Rank> peers_of(Rank rank) const {
        return {peers_.data() + at(rank).first_peer, at(rank).shape->peers()};
    }

  protected:
    /// In the numbering of the peers of all ranks.
    [[nodiscard]] std::uint32_t flow_of(const Site& site) const { return at(site.rank).first_peer + action(site).peer; }
    [[nodiscard]] std::size_t flows() const { return peers_.size(); }
    /// Where it goes.
    [[nodiscard]] Rank peer_of_flow(std::uint32_t flow) const { return peers_[flow]; }
    [[nodiscard]] Rank nodes() const { return nodes_; }
    [[nodiscard]] bool has_nodes() const { return has_nodes_; }
    /// Of the actions of a rank.
    [[nodiscard]] Progress* progress_of(Rank rank) { return progress_.data() + at(rank).first; }
    /// After `start_plans`.
    [[nodiscard]] RankBoard board(Rank rank, Count element_bytes) {
        VirtualRank& state = at(rank);
        return {state, progress_of(rank), ready_bits_.data() + state.first_word, limits_,
                static_cast<std::uint64_t>(element_bytes)};
    }
    /// All of them, with no transfer posted: `ready` and `left` are `unposted`.
    void start_plans(double unposted) {
        ready_bits_.resize(words_);
        for (Rank rank = 0; rank < size(); ++rank) {
            VirtualRank& state = at(rank);
            state.start();
            std::ranges::copy(state.shape->ready_at_once, ready_bits_.begin() + state.first_word);
            Progress* progress = progress_of(rank);
            for (std::uint32_t own = 0; own < state.shape->size(); ++own) {
                progress[own].ready = progress[own].left = unposted;
                progress[own].waits = state.shape->actions[own].waits_for;
            }
        }
    }

  private:
    static constexpr Count most_actions = std::numeric_limits<std::uint32_t>::max() - 1;

    PlanShapes shapes_;
    std::vector<VirtualRank> ranks_;
    std::vector<Progress> progress_;         // of each action
    std::vector<Rank> peers_;                // of each rank
    std::vector<std::uint64_t> ready_bits_;  // of each rank
    std::uint32_t words_ = 0;                // of those
    FlightLimits limits_;
    Rank nodes_ = 0;
    bool has_nodes_ = false;  // some of several ranks
};

}  // namespace rondo::virtual_machine
