// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/packet.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "testbed/addresses.hpp"

namespace rondo::testbed {
namespace {

constexpr unsigned nodes = 8;
constexpr unsigned fin = 1, syn = 2, rst = 4, psh = 8, ack = 16;

using Bytes = std::vector<std::byte>;

void put(Bytes& bytes, std::size_t at, std::uint32_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[at + count - 1 - i] = static_cast<std::byte>(value >> 8 * i & 255U);
}

/// From node 2 to node 5, with 4 bytes of IP options if asked for and 12 bytes of TCP options.
Bytes tcp_packet(unsigned flags, std::size_t payload, std::uint32_t port = 40000, std::size_t ip_options = 0) {
    const std::size_t ip = 20 + ip_options, tcp = 32;
    Bytes bytes(ip + tcp + payload);
    put(bytes, 0, static_cast<std::uint32_t>(0x40 + ip / 4), 1);
    put(bytes, 9, 6, 1);
    put(bytes, 12, address_of(2, nodes), 4);
    put(bytes, 16, address_of(5, nodes), 4);
    put(bytes, ip, port, 2);
    put(bytes, ip + 2, 7, 2);
    put(bytes, ip + 12, tcp / 4 << 4U, 1);
    put(bytes, ip + 13, flags, 1);
    return bytes;
}

PacketFacts facts_of(const Bytes& bytes) {
    const auto facts = read_packet(bytes);
    EXPECT_TRUE(facts);
    return facts.value_or(PacketFacts{});
}

TEST(packet, tells_addresses_and_payload) {
    for (const std::size_t options : {0, 4}) {
        const PacketFacts facts = facts_of(tcp_packet(ack | psh, 1000, 40000, options));
        EXPECT_EQ(node_at(facts.source, nodes), 2U);
        EXPECT_EQ(node_at(facts.destination, nodes), 5U);
        EXPECT_EQ(facts.payload, 1000U);
        EXPECT_FALSE(facts.is_acknowledgement);
    }
}

TEST(packet, knows_pure_acknowledgements) {
    EXPECT_TRUE(facts_of(tcp_packet(ack, 0)).is_acknowledgement);
    EXPECT_FALSE(facts_of(tcp_packet(ack, 1)).is_acknowledgement);
    for (const unsigned event : {fin, syn, rst}) {
        EXPECT_FALSE(facts_of(tcp_packet(ack | event, 0)).is_acknowledgement);
    }
}

TEST(packet, tells_flows_apart) {
    const std::uint64_t flow = facts_of(tcp_packet(ack, 1)).flow;
    EXPECT_EQ(flow, facts_of(tcp_packet(ack | fin, 77)).flow);
    EXPECT_NE(flow, facts_of(tcp_packet(ack, 1, 40001)).flow);
    Bytes other = tcp_packet(ack, 1);
    put(other, 16, address_of(6, nodes), 4);
    EXPECT_NE(flow, facts_of(other).flow);
}

TEST(packet, is_not_read_beyond_its_end) {
    const Bytes whole = tcp_packet(ack, 0);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(read_packet(std::span(whole).first(length))) << length;
    }
}

TEST(packet, of_another_version_is_none) {
    Bytes bytes = tcp_packet(ack, 0);
    put(bytes, 0, 0x65, 1);
    EXPECT_FALSE(read_packet(bytes));
    put(bytes, 0, 0x44, 1);  // a header of 16 bytes
    EXPECT_FALSE(read_packet(bytes));
}

TEST(packet, of_another_protocol_counts_whole) {
    Bytes bytes(28);
    put(bytes, 0, 0x45, 1);
    put(bytes, 9, 1, 1);
    EXPECT_EQ(facts_of(bytes).payload, 8U);
    put(bytes, 9, 17, 1);
    EXPECT_EQ(facts_of(bytes).payload, 0U);
    EXPECT_FALSE(facts_of(bytes).is_acknowledgement);
}

TEST(addresses, name_every_node_once) {
    for (unsigned node = 0; node <= nodes; ++node) {
        EXPECT_EQ(node_at(address_of(node, nodes), nodes), node);
        EXPECT_EQ(node_called(name_of(node, nodes), nodes), node);
        EXPECT_EQ(node_called(address_text(node, nodes), nodes), node);
    }
    EXPECT_EQ(node_called("3", nodes), 3U);
    EXPECT_EQ(address_text(249, 250), "198.18.0.250");
    for (const char* unknown : {"", "8", "node8", "node", "198.18.0.9", "nodehead"}) {
        EXPECT_FALSE(node_called(unknown, nodes)) << unknown;
    }
    EXPECT_FALSE(node_at(address_of(0, nodes) - 1, nodes));
}

}  // namespace
}  // namespace rondo::testbed
