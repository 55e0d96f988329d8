// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "testbed/options.hpp"

namespace rondo::testbed {

/// Bytes that processes may still take, by the machine's /proc/meminfo and by the memory limits of the calling
/// process's control groups (both versions). `root` is where /proc and /sys are. What cannot be read does not limit.
std::uint64_t memory_left(const std::string& root = "");

/// As users read it, rounded up: 568 MiB.
std::string memory_text(std::uint64_t bytes);

/// Throws Failure, with what to do, if the cluster takes more than `left` bytes.
void require_memory(const Shape& shape, std::uint64_t left);

}  // namespace rondo::testbed
