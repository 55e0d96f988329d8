// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/routes.hpp"

#include <algorithm>
#include <limits>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {

void Routes::Some::add(Rank node, double capacity) {
    if (exceed(capacity) || (!nodes_.empty() && nodes_.back() == node)) return;
    if (std::ranges::find(nodes_, node) == nodes_.end()) nodes_.push_back(node);
}

void Routes::clear() {
    network_ = nullptr;
    first_.clear();
    wires_.clear();
    extra_.clear();
}

void Routes::begin(const Network& network) {
    clear();
    network_ = &network;
    first_.push_back(0);
}

std::uint32_t Routes::number_of(const NetworkLink& link) {
    const auto [found, is_new] = numbers_.emplace(link.number, static_cast<std::uint32_t>(used_.size()));
    if (is_new) used_.push_back({link.capacity, {}, {}});
    return found->second;
}

void Routes::add(Rank from_node, Rank to_node) {
    route_.clear();
    network_->route(from_node, to_node, route_);
    const std::uint32_t first_link = egress(network_->nodes());
    wires_.push_back(egress(from_node));
    for (const NetworkLink& link : route_) {
        const std::uint32_t number = number_of(link);
        used_[number].from.add(from_node, link.capacity);
        used_[number].to.add(to_node, link.capacity);
        wires_.push_back(first_link + number);
    }
    wires_.push_back(ingress(to_node));
    if (wires_.size() > std::numeric_limits<std::uint32_t>::max()) throw Error("more links than can be numbered");
    first_.push_back(static_cast<std::uint32_t>(wires_.size()));
    extra_.push_back(network_->shape().hop * static_cast<double>(route_.size()));
}

std::vector<double> Routes::end() {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    const std::uint32_t first_link = egress(network_->nodes());
    std::vector<double> capacities;
    std::vector<std::uint32_t> renumbered;
    for (const Used& link : used_) {
        const bool limits = link.from.exceed(link.capacity) && link.to.exceed(link.capacity);
        renumbered.push_back(limits ? first_link + static_cast<std::uint32_t>(capacities.size()) : none);
        if (limits) capacities.push_back(link.capacity);
    }
    std::uint32_t kept = 0, read = 0;
    for (std::size_t flow = 0; flow + 1 < first_.size(); ++flow) {
        for (; read < first_[flow + 1]; ++read) {
            const std::uint32_t wire = wires_[read] < first_link ? wires_[read] : renumbered[wires_[read] - first_link];
            if (wire != none) wires_[kept++] = wire;
        }
        first_[flow + 1] = kept;
    }
    wires_.resize(kept);
    used_.clear();
    numbers_.clear();
    network_ = nullptr;
    return capacities;
}

}  // namespace rondo::virtual_machine
