// SPDX-License-Identifier: BSD-3-Clause
// The command line. What cannot be meant throws Failure with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/virtual/network.hpp"

namespace rondo::testbed {

using Words = std::vector<std::string>;

/// What all lanes together may send. Measured on two cores, every node sending 4 MiB to the next, beyond the model and
/// the 2 alpha of the library's handshake: 2% at 1.6 Gbit/s, 5 to 8% at 3.6, 20% at 7.2. The switch takes a fifth of a
/// core; the rest is the ranks'.
inline constexpr double most_bits_per_second = 3.6e9;
inline constexpr unsigned most_lanes = 8;
inline constexpr unsigned most_per_node = 4096;

struct Shape {
    unsigned nodes = 0;
    unsigned per_node = 1;  ///< ranks that will run on each: memory is taken for what they send
    unsigned lanes = 1;
    std::uint64_t latency_ns = 0;
    std::uint64_t bits_per_second = 0;
    std::optional<virtual_machine::NetworkShape> network = {};  ///< nodes are at its first places
};

struct UpOptions {
    std::string directory;
    Shape shape;
    bool detached = false;
};

/// Throws Failure if there can be no such cluster, or the switch could not carry its traffic.
void check(const Shape& shape);

UpOptions parse_up(const Words& words);

struct Change {
    std::optional<std::uint64_t> latency_ns;
    std::optional<std::uint64_t> bits_per_second;
};

/// From words like latency-us=5000 and rate-mbit=100.
Change parse_change(std::span<const std::string> words);

struct RemoteCommand {
    std::string host;
    std::string command;
};

/// From the words that launchers give to ssh: [options] [user@]host command...
RemoteCommand parse_ssh(std::span<const std::string> words);

}  // namespace rondo::testbed
