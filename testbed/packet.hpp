// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rondo::testbed {

/// What the switch needs to know of an IPv4 packet.
struct PacketFacts {
    std::uint32_t source, destination;  ///< addresses, in host byte order
    std::uint64_t flow;                 ///< the same for all packets of one direction of a connection
    std::uint32_t payload;              ///< bytes behind the headers
    bool is_acknowledgement;            ///< of TCP, without payload, SYN, FIN or RST
};

/// Reads a packet from its IPv4 header on; nothing if it is none, or is cut short within its headers.
std::optional<PacketFacts> read_packet(std::span<const std::byte> packet);

}  // namespace rondo::testbed
