// SPDX-License-Identifier: BSD-3-Clause
// What the network is like: alpha and beta from a ping-pong between two nodes, and the emulated cluster's own account.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "line.hpp"

namespace rondo::testbed {
struct Control;
}

namespace rondo::bench {

/// On rank 0, while `partner` calls it too, on another node. Takes about a second.
Line fitted_line(MPI_Comm comm, int partner);

/// Of the deliveries of an emulated network, seconds.
struct Lateness {
    double worst = 0, mean = 0;
};

/// The control page of the emulated cluster that this process runs in, if it runs in one.
class EmulatedCluster {
  public:
    EmulatedCluster();
    [[nodiscard]] bool exists() const { return control_ != nullptr; }
    /// Asks the switch to watch its lateness from now on.
    void watch();
    /// How late it was since.
    [[nodiscard]] Lateness lateness() const;
    /// Whether it was so late that what took `seconds` was not measured on the network that was asked for.
    [[nodiscard]] bool disturbed(const Lateness& lateness, double seconds) const;
    /// Packets that the switch lost since.
    [[nodiscard]] std::int64_t dropped() const;

  private:
    testbed::Control* control_ = nullptr;
    std::int64_t dropped_before_ = 0;
    std::uint64_t packets_before_ = 0, lateness_before_ = 0;  // when the watch began
};

}  // namespace rondo::bench
