// SPDX-License-Identifier: BSD-3-Clause
// Domains: the parts of a node whose processors are near each other, by the ranks that are bound to them.
#pragma once

#include <sched.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::shared_memory {

/// Parts in which a process may be bound: processors with one L3 cache, of one NUMA node, of one socket.
inline constexpr std::size_t kinds_of_parts = 3;

/// For each kind of parts, the number of the first processor of the part that holds all processors of a process. It is
/// -1 if no part holds them all, or if the system does not say.
using Parts = std::array<int, kinds_of_parts>;

/// The parts that hold these processors. `root`: of the file system.
Parts parts_of(const cpu_set_t& processors, const std::string& root = "");

/// The domain of each rank, named by its first rank. A kind of parts divides a node if each of its ranks is bound to
/// one part, there are several of them, and they have two ranks or more in the mean. Of such kinds, the one with most
/// parts counts; without any, the node is one domain, named by its first rank, as in `node_of`.
std::vector<Rank> domains_of(std::span<const Rank> node_of, std::span<const Parts> parts_of);

}  // namespace rondo::shared_memory
