// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/ring.hpp"

#include <algorithm>

#include "testbed/node.hpp"

namespace rondo::testbed {
namespace {

// Of a slot: the kernel's own header, and those of the packet below IP.
constexpr std::size_t slot_headers = 256;

// Seen to wait for a switch that had no real-time priority, on two cores with a load of 30: 240 packets of a node with
// 8 x 1 ranks (20 ms, 1 MiB to all others at once), 168 with 8 x 4. With real-time priority, not half as many.
constexpr std::size_t node_packets_at_least = 128;
// Of the head, then: 191 with 2 nodes, 919 with 8, and with 36 nodes more than the 1440 that there was room for.
constexpr std::size_t head_packets_at_least = 1024, head_packets_of_a_pair = 4;

constexpr std::size_t most_node_bytes = std::size_t{32} << 20U, most_head_bytes = std::size_t{64} << 20U,
                      most_bytes_of_nodes = std::size_t{512} << 20U;

Ring bounded(std::size_t packets, std::size_t longest_packet, std::size_t most_bytes) {
    const Ring ring(packets, longest_packet);
    if (ring.bytes() <= most_bytes) return ring;
    const std::size_t in_block = ring.slots() / ring.blocks();
    return {std::max<std::size_t>(most_bytes / Ring::block_bytes, 2) * in_block, longest_packet};
}

}  // namespace

Ring::Ring(std::size_t packets, std::size_t longest_packet) : slot_bytes_(longest_packet + slot_headers) {
    slot_bytes_ += (0 - slot_bytes_) % 16;  // as the kernel aligns them
    blocks_ = std::max<std::size_t>((packets + slots_in_block() - 1) / slots_in_block(), 2);
}

Ring ring_of_node(const Shape& shape) {
    const std::size_t ahead = send_buffer(shape.latency_ns, shape.bits_per_second) / longest_node_packet + 1;
    const std::size_t ranks = std::size_t{shape.nodes} * shape.per_node;
    return bounded(node_packets_at_least + ranks * (ahead + 1), longest_node_packet,
                   std::min(most_node_bytes, most_bytes_of_nodes / std::max(shape.nodes, 1U)));
}

Ring ring_of_head(const Shape& shape) {
    const std::size_t pairs = std::size_t{shape.nodes} * shape.nodes;
    return bounded(head_packets_at_least + head_packets_of_a_pair * pairs, longest_head_packet, most_head_bytes);
}

std::size_t ring_bytes(const Shape& shape) {
    return shape.nodes * ring_of_node(shape).bytes() + ring_of_head(shape).bytes();
}

}  // namespace rondo::testbed
