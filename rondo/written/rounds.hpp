// SPDX-License-Identifier: BSD-3-Clause
// From thread blocks that run side by side to steps that one rank takes in order.
#pragma once

#include "rondo/written/msccl.hpp"
#include "rondo/written/races.hpp"
#include "rondo/written/written_schedule.hpp"

namespace rondo::written {

/// Runs a program in rounds, and writes down what each rank does: in a round, first the local work that can be done,
/// then one exchange with all messages that can leave. A message lands where its receiver wants it, if that one waits
/// already and nothing else of the exchange is in the way; else in scratch memory, as in MSCCL's buffers.
///
/// The order is one of many in which MSCCL may run the program. All have the same outcome if no thread blocks race:
/// `races` are looked for, if it is not nullptr.
///
/// Throws Error, naming rank, thread block and step, where the program comes to a stop, where a message has another
/// length than its receiver expects, where a message is received by nobody, and for a race.
WrittenSchedule in_rounds(const MscclProgram& program, Races* races = nullptr);

}  // namespace rondo::written
