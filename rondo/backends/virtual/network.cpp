// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/network.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

[[nodiscard]] std::uint64_t pair_of(Rank high, Rank low) {
    return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
}

[[nodiscard]] Rank group_of(const FatTree& tree) { return tree.nodes; }
[[nodiscard]] Rank group_of(const Dragonfly& dragonfly) { return dragonfly.nodes; }
[[nodiscard]] Rank group_of(const Torus& torus) {
    Rank nodes = 1;
    for (std::size_t i = 0; i + 1 < torus.lengths.size(); ++i) nodes *= torus.lengths[i];
    return nodes;
}

/// Up from the leaf switch of one node, and down to that of the other.
void add_route(const FatTree& tree, Rank from, Rank to, std::vector<NetworkLink>& links) {
    const Rank up = from / tree.nodes, down = to / tree.nodes;
    if (up == down) return;
    const double capacity = tree.nodes / tree.taper;
    links.push_back({pair_of(up, 0), capacity});
    links.push_back({pair_of(down, 1), capacity});
}

void add_route(const Dragonfly& dragonfly, Rank from, Rank to, std::vector<NetworkLink>& links) {
    const Rank out = from / dragonfly.nodes, in = to / dragonfly.nodes;
    if (out != in) links.push_back({pair_of(out, in), dragonfly.global});
}

void add_route(const Torus& torus, Rank from, Rank to, std::vector<NetworkLink>& links) {
    Rank here = from, weight = 1, dimension = 0;
    for (const Rank length : torus.lengths) {
        const Rank start = from / weight % length, end = to / weight % length;
        const Rank up = (end - start + length) % length, down = (length - up) % length;
        const bool goes_up = up < down || (up == down && start % 2 == 0);
        for (Rank left = std::min(up, down), at = start; left > 0; --left) {
            links.push_back({pair_of(here, 2 * dimension + (goes_up ? 0 : 1)), torus.link});
            const Rank next = (at + (goes_up ? 1 : length - 1)) % length;
            here += (next - at) * weight;
            at = next;
        }
        weight *= length;
        ++dimension;
    }
}

[[nodiscard]] bool never_limits(const FatTree& tree) { return tree.taper <= 1; }
[[nodiscard]] bool never_limits(const Dragonfly& dragonfly) { return dragonfly.global >= dragonfly.nodes; }
[[nodiscard]] bool never_limits(const Torus& /*torus*/) { return false; }

}  // namespace

Rank NetworkShape::group() const {
    return std::visit([](const auto& each) { return group_of(each); }, kind);
}

Count NetworkShape::places() const {
    if (const auto* torus = std::get_if<Torus>(&kind)) return Count{group()} * torus->lengths.back();
    return groups > 0 ? Count{groups} * group() : most_places;
}

void NetworkShape::route(Rank from, Rank to, std::vector<NetworkLink>& links) const {
    std::visit([&](const auto& each) { add_route(each, from, to, links); }, kind);
}

bool NetworkShape::is_flat(const std::vector<Rank>& at) const {
    if (hop == 0 && std::visit([](const auto& each) { return never_limits(each); }, kind)) return true;
    if (at.size() < 2) return true;
    if (std::holds_alternative<Torus>(kind)) return false;
    return std::ranges::all_of(at, [&](Rank place) { return place / group() == at.front() / group(); });
}

Network::Network(NetworkShape shape, std::vector<Rank> places) : shape_(std::move(shape)), places_(std::move(places)) {
    std::unordered_set<Rank> taken;
    for (const Rank place : places_) {
        if (place < 0 || place >= shape_.places()) {
            throw Error("a node at place " + std::to_string(place) + " of a network; expected 0 to " +
                        std::to_string(shape_.places() - 1));
        }
        if (!taken.insert(place).second) throw Error("two nodes at place " + std::to_string(place) + " of a network");
    }
}

}  // namespace rondo::virtual_machine
