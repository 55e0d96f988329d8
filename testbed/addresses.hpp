// SPDX-License-Identifier: BSD-3-Clause
// Names and addresses: node0 is 198.18.0.1, node1 198.18.0.2, ..., and the head, where launchers run, 198.18.1.1.
// 198.18.0.0/15 is reserved for benchmarks of networks (RFC 2544), so no real host can be meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rondo::testbed {

inline constexpr unsigned most_nodes = 250;
inline constexpr const char* network = "198.18.0.0/15";
inline constexpr const char* network_bits = "15";

/// `node` may be `nodes`, which is the head.
std::string name_of(unsigned node, unsigned nodes);

/// In host byte order.
std::uint32_t address_of(unsigned node, unsigned nodes);

std::string address_text(unsigned node, unsigned nodes);

/// The node with this address; nothing if there is none.
std::optional<unsigned> node_at(std::uint32_t address, unsigned nodes);

/// The node that a user means by 3, node3, 198.18.0.4 or head; nothing if there is none.
std::optional<unsigned> node_called(std::string_view text, unsigned nodes);

}  // namespace rondo::testbed
