// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "testbed/namespaces.hpp"
#include "testbed/options.hpp"

namespace rondo::testbed {

/// Where a node's own temporary files lie, seen from the node.
std::string temporary_directory(const std::string& cluster_directory);

/// Name of the device at the switch's end of a node's cable.
std::string port_name(unsigned node);

/// Makes a node: its own network, with the device lane0, host name, shared memory, /sys and temporary files.
///
/// The other end of its cable, port_name(node), is in the network namespace of `home`, where the caller, the init, is
/// before and after. `init` is the init's number in /proc.
NodeNamespaces make_node(unsigned node, const Shape& shape, const std::string& cluster_directory,
                         const std::string& init, const NodeNamespaces& home);

/// The longest packet that a node sends, from Ethernet's header on: segments are still to be cut (GSO). The head cuts
/// them itself.
inline constexpr std::size_t longest_node_packet = std::size_t{64} << 10U, longest_head_packet = 9014;

/// What a connection may send ahead, in bytes, such that it fits the network.
std::size_t send_buffer(std::uint64_t latency_ns, std::uint64_t bits_per_second);

/// Fits what a connection may send ahead to the network. For the node whose network namespace the caller is in.
void size_send_buffers(std::uint64_t latency_ns, std::uint64_t bits_per_second);

}  // namespace rondo::testbed
