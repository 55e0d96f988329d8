// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::virtual_machine {

class Observer;

struct DataflowOptions {
    CostModel costs;
    /// No message is buffered, whatever the seed: it leaves when its receive is there, and completes with it.
    bool synchronous = false;
    /// Not 0: every transfer and every local action takes a random time, messages are buffered or not at random, and
    /// completion is noticed late at random. Equal seeds give equal runs.
    std::uint64_t seed = 0;
    FlightLimits limits;
    /// When each rank comes to the call; empty: all at 0. Borrowed.
    std::span<const double> ready = {};
    /// For tests of the checker: changes the plan of a rank before it runs.
    std::function<Plan(Rank, Plan)> alter;
    Observer* observer = nullptr;  ///< is told what happens (trace.hpp)
};

/// Runs the plans of all ranks as dataflow, in virtual time: actions start when the plan lets them, messages overlap.
/// Network: a rank's messages leave one after the other and arrive one after the other, each at rate 1/beta, cut
/// through, after alpha. Ranks of a node share the lanes by which their messages leave it and come in (CostModel), and
/// have wires of their own for messages among them.
///
/// Throws Error, naming rank, step and block, for: a read of what was never written or is still being received, a
/// write to a block that is being sent or received, a message longer or shorter than its receive, a message that nobody
/// receives, a deadlock; and for a wrong result.
Outcome run_dataflow(const Problem& problem, const DataflowOptions& options = {});

}  // namespace rondo::virtual_machine
