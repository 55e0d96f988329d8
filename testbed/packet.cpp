// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/packet.hpp"

#include <netinet/in.h>

namespace rondo::testbed {
namespace {

constexpr std::size_t shortest_ip_header = 20, shortest_tcp_header = 20, udp_header = 8;
constexpr unsigned finish = 1, synchronise = 2, reset = 4;  // flags of TCP

std::uint32_t byte(std::span<const std::byte> data, std::size_t at) { return std::to_integer<std::uint32_t>(data[at]); }

std::uint32_t number(std::span<const std::byte> data, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8U | byte(data, at + i);
    return value;
}

std::size_t words(std::uint32_t count) { return std::size_t{4} * count; }

// Nodes differ in the last two bytes of their addresses.
std::uint64_t flow_key(std::uint32_t source, std::uint32_t destination, std::uint32_t ports) {
    return std::uint64_t{source & 0xFFFFU} << 48U | std::uint64_t{destination & 0xFFFFU} << 32U | ports;
}

}  // namespace

std::optional<PacketFacts> read_packet(std::span<const std::byte> packet) {
    if (packet.size() < shortest_ip_header || byte(packet, 0) >> 4U != 4) return std::nullopt;
    const std::size_t header = words(byte(packet, 0) & 15U);
    if (header < shortest_ip_header || header > packet.size()) return std::nullopt;

    PacketFacts facts{.source = number(packet, 12, 4), .destination = number(packet, 16, 4)};
    const std::span<const std::byte> content = packet.subspan(header);
    const std::uint32_t protocol = byte(packet, 9);
    std::size_t transport = 0;
    std::uint32_t ports = protocol;
    if (protocol == IPPROTO_TCP) {
        if (content.size() < shortest_tcp_header) return std::nullopt;
        transport = words(byte(content, 12) >> 4U);
        ports = number(content, 0, 4);
        const bool is_event = (byte(content, 13) & (finish | synchronise | reset)) != 0;
        facts.is_acknowledgement = !is_event && content.size() == transport;
    } else if (protocol == IPPROTO_UDP) {
        transport = udp_header;
        if (content.size() >= transport) ports = number(content, 0, 4);
    }
    if (content.size() < transport) return std::nullopt;
    facts.flow = flow_key(facts.source, facts.destination, ports);
    facts.payload = static_cast<std::uint32_t>(content.size() - transport);
    return facts;
}

}  // namespace rondo::testbed
