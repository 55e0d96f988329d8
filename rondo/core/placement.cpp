// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/placement.hpp"

#include <algorithm>
#include <map>

namespace rondo {

Placement Placement::regular(Rank nodes, Rank ranks_per_node) {
    Placement placement;
    placement.size_ = nodes * ranks_per_node;
    placement.nodes_ = nodes;
    placement.lanes_ = placement.most_on_node_ = ranks_per_node;
    return placement;
}

Placement Placement::of(std::span<const Rank> node_of) {
    Placement placement;
    placement.size_ = static_cast<Rank>(node_of.size());
    std::map<Rank, Rank> number_of_node;
    std::vector<Rank> ranks_on;
    for (const Rank name : node_of) {
        const auto [known, is_new] = number_of_node.try_emplace(name, static_cast<Rank>(ranks_on.size()));
        if (is_new) ranks_on.push_back(0);
        const Rank node = known->second;
        placement.in_rank_order_ &= node + 1 == static_cast<Rank>(ranks_on.size());
        placement.places_.push_back({node, ranks_on[static_cast<std::size_t>(node)]++});
    }
    if (node_of.empty()) return placement;
    const auto [least, most] = std::minmax_element(ranks_on.begin(), ranks_on.end());
    placement.nodes_ = static_cast<Rank>(ranks_on.size());
    placement.lanes_ = *least;
    placement.most_on_node_ = *most;
    if (placement.in_rank_order_ && *least == *most) return regular(placement.nodes_, *least);

    placement.first_.push_back(0);
    for (const Rank ranks : ranks_on) placement.first_.push_back(placement.first_.back() + ranks);
    placement.by_node_.resize(node_of.size());
    placement.by_lane_.resize(static_cast<std::size_t>(placement.nodes_) * static_cast<std::size_t>(placement.lanes_));
    for (Rank rank = 0; rank < placement.size_; ++rank) {
        const auto [node, number] = placement.place(rank);
        const Rank at = placement.first_[static_cast<std::size_t>(node)] + number;
        placement.by_node_[static_cast<std::size_t>(at)] = rank;
        if (number >= placement.lanes_) continue;
        const Rank in_lanes = number * placement.nodes_ + node;
        placement.by_lane_[static_cast<std::size_t>(in_lanes)] = rank;
    }
    return placement;
}

Placement Placement::as_domains() const {
    if (nodes_ <= 1 || most_on_node_ <= 1) return regular(1, size_);
    Placement domains = *this;
    domains.is_of_domains_ = true;
    return domains;
}

Placement Placement::runs() const {
    std::vector<Rank> run_of;
    for (Rank rank = 0; rank < size_; ++rank) {
        const bool goes_on = rank > 0 && place(rank).node == place(rank - 1).node;
        run_of.push_back(run_of.empty() ? 0 : run_of.back() + (goes_on ? 0 : 1));
    }
    return of(run_of);
}

Placement::Place Placement::place(Rank rank) const {
    if (is_regular()) return {rank / lanes_, rank % lanes_};
    return places_[static_cast<std::size_t>(rank)];
}

RankMap Placement::on_node(Rank node) const {
    if (is_regular()) return {node * lanes_, 1, lanes_};
    const auto first = static_cast<std::size_t>(first_[static_cast<std::size_t>(node)]);
    return RankMap(std::span(by_node_).subspan(first, static_cast<std::size_t>(first_[std::size_t(node) + 1]) - first));
}

RankMap Placement::on_lane(Rank lane) const {
    if (is_regular()) return {lane, lanes_, nodes_};
    const auto nodes = static_cast<std::size_t>(nodes_);
    return RankMap(std::span(by_lane_).subspan(static_cast<std::size_t>(lane) * nodes, nodes));
}

bool operator==(const Placement& a, const Placement& b) {
    return a.size_ == b.size_ && a.nodes_ == b.nodes_ && a.is_of_domains_ == b.is_of_domains_ && a.places_ == b.places_;
}

}  // namespace rondo
