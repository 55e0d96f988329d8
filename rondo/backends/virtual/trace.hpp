// SPDX-License-Identifier: BSD-3-Clause
// What happens in a run of the virtual backend, written down: for pictures, and for programs that look at schedules.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rondo/backends/virtual/problem.hpp"

namespace rondo::virtual_machine {

/// Times are in the unit of the run's costs. `data` says what the elements of the block hold, relative to its start: a
/// piece's place in the vectors of the origins is `offset + symbol.shift()`, whatever buffer it stands in.
struct MessageEvent {
    Rank from, to;
    Block source, target;
    std::int64_t step_from, step_to;  ///< the number of the step in the schedule of each end
    double start;                     ///< lock step: both ends are in the exchange; overlapped: the first byte leaves
    double end;                       ///< the last byte arrives
    Data data;
};

/// A combine or a copy.
struct LocalEvent {
    Rank rank;
    std::int64_t step;
    ActionKind kind;
    Block left, right, into;  ///< a copy goes from `left`; its `right` is empty
    double start, end;
    Data data;  ///< what stands in `into` afterwards
};

/// Is told what happens, in the order in which the run comes to it, which is not always that of the times.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void message(const MessageEvent& event) = 0;
    virtual void local(const LocalEvent& event) = 0;

  protected:
    Observer() = default;
    Observer(const Observer&) = default;
    Observer& operator=(const Observer&) = default;
};

enum class Execution : std::uint8_t {
    lock_step,   ///< as the papers count; with the standard costs, time is the number of rounds
    overlapped,  ///< as dataflow
};

struct TraceOptions {
    Execution execution = Execution::lock_step;
    CostModel costs;
    std::int64_t most_messages = 0;  ///< not 0: Error, as soon as there are more
    /// When each rank comes to the call, overlapped runs only; empty: all at 0. Borrowed.
    std::span<const double> ready = {};
};

struct Trace {
    Outcome outcome;
    std::vector<MessageEvent> messages;  ///< by start, then by sender
    std::vector<LocalEvent> locals;      ///< by end, then by rank
};

/// Runs the problem and writes down what happens. Throws Error where the run does, and for a call that the algorithm
/// refuses, with the reason.
Trace trace(const Problem& problem, const TraceOptions& options = {});

}  // namespace rondo::virtual_machine
