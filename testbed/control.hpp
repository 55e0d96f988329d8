// SPDX-License-Identifier: BSD-3-Clause
// The page that the switch shares with whoever sets it, watches it or measures on it: <cluster directory>/control.
// One header for all of them; plain data, so that a program of another compiler reads it too.
#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::testbed {

inline constexpr std::uint64_t control_magic = 0x31306f646e6f72ULL;  // "rondo01"
inline constexpr const char* control_file = "control";
/// Environment variable of every process in the cluster: the cluster's directory.
inline constexpr const char* directory_variable = "RONDO_CLUSTER";
/// Environment variable of every process in the cluster: its node's name, node0 ... or head.
inline constexpr const char* node_variable = "RONDO_CLUSTER_NODE";

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

struct Control {
    std::uint64_t magic = control_magic;
    std::uint64_t size = sizeof(Control);

    // Set by anybody, obeyed by the next packet.
    Counter latency_ns;
    Counter bits_per_second;  ///< of one lane, in each direction

    // Fixed when the cluster starts.
    std::uint32_t nodes = 0;
    std::uint32_t lanes = 1;  ///< of a node, pooled

    // Written by the switch.
    Counter packets;
    Counter bytes;              ///< payload
    Counter dropped;            ///< packets for nobody, or that a node did not take
    Counter worst_lateness_ns;  ///< of a delivery, since somebody last set it to 0
    Counter lateness_sum_ns;    ///< over all deliveries
    Counter queued;             ///< packets in the switch now
    Counter most_queued;
    Counter busy_ns;  ///< of the switch's processor
};

}  // namespace rondo::testbed
