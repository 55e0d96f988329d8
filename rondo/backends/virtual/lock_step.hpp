// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/virtual/problem.hpp"

namespace rondo::virtual_machine {

class Observer;

/// Runs the schedules of all ranks as the papers count them: a rank is in one step at a time, an exchange lasts until
/// all its transfers are over, a transfer starts when both its ends are in the exchange (so there is no buffering that
/// a faulty algorithm could hide behind). With the standard costs `time` is the number of rounds.
///
/// Throws Error, naming rank, step and block, for: a read of what was never written, overlapping transfers in one
/// exchange, a message longer or shorter than its receive, more transfers than ports, a deadlock, an input combined
/// twice; and for a wrong result. The observer, if there is one, is told what happens (trace.hpp).
Outcome run_lock_step(const Problem& problem, const CostModel& costs = {}, Observer* observer = nullptr);

}  // namespace rondo::virtual_machine
