// SPDX-License-Identifier: BSD-3-Clause
// What makes calls alike: about the same length, on ranks that are spread alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "rondo/core/block.hpp"
#include "rondo/core/placement.hpp"

namespace rondo {

/// Equal for calls that take about as long: up to 63 bytes, 64 to 127, 128 to 255, ...
constexpr std::uint8_t length_class(Count bytes) {
    constexpr Count short_ones = 63;  // latency decides
    return static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(std::max(short_ones, bytes))));
}

/// Ranks of a communicator, by their number, where they are, and how they reach each other.
struct Shape {
    Rank processes = 0;
    Rank nodes = 0, fewest_on_node = 0, most_on_node = 0;  ///< 0: nobody knows
    bool in_rank_order = false;                            ///< those of a node follow one another
    bool shared_memory = false;                            ///< all messages inside nodes go through it
    Rank domains = 1;                                      ///< of the only node

    /// Of ranks of which it is known where each is, or nothing.
    [[nodiscard]] static constexpr Shape of(Rank processes, const Spread& spread, bool shared_memory) {
        return {processes,
                spread.nodes.most,
                spread.fewest_on_node.most,
                spread.most_on_node.most,
                spread.in_rank_order,
                shared_memory,
                spread.domains.most};
    }
    friend bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace rondo
