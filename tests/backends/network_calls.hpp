// SPDX-License-Identifier: BSD-3-Clause
// Calls of a message or two for each rank, on networks with a shape.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/network.hpp"
#include "rondo/backends/virtual/timing.hpp"

namespace rondo::virtual_machine {

inline constexpr double alpha = 1, beta = 1;
inline constexpr Count bytes = 100;
inline constexpr CostModel plain = {.alpha = alpha, .beta = beta, .fluid = true};

inline std::vector<Rank> in_a_row(Rank nodes) {
    std::vector<Rank> places(static_cast<std::size_t>(nodes));
    std::iota(places.begin(), places.end(), 0);
    return places;
}

inline Network network_of(NetworkShape shape, Rank nodes) { return {std::move(shape), in_a_row(nodes)}; }

inline double time_on(const Network& network, Schedule (*generator)(const Call&), CostModel costs = plain,
                      Rank ranks_per_node = 1) {
    const AlgorithmInfo info{.collective = "exscan", .name = "pattern", .schedule = generator};
    const Placement placement = Placement::regular(network.nodes(), ranks_per_node);
    const SharedFacts facts{.size = placement.size(), .count = bytes, .placement = &placement};
    costs.network = &network;
    return time_of(info, facts, {}, costs);
}

/// Every rank to the one `by` further on.
template <Rank by>
Schedule shifts(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(receive(call.output(), (r + p - by) % p), send(call.input(), (r + by) % p));
}

}  // namespace rondo::virtual_machine
