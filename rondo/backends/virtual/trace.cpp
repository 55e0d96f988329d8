// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/trace.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <tuple>

#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

/// No Error: it is no fault of a rank, whose name an Error would get on its way.
struct TooManyMessages : std::exception {};

class Recorder : public Observer {
  public:
    Recorder(Trace& trace, std::int64_t most_messages) : trace_(trace), most_messages_(most_messages) {}

    void message(const MessageEvent& event) override {
        trace_.messages.push_back(event);
        if (most_messages_ > 0 && std::ssize(trace_.messages) > most_messages_) throw TooManyMessages();
    }
    void local(const LocalEvent& event) override { trace_.locals.push_back(event); }

  private:
    Trace& trace_;
    const std::int64_t most_messages_;
};

Outcome run(const Problem& problem, const TraceOptions& options, Observer& observer) {
    if (options.execution == Execution::overlapped) {
        return run_dataflow(problem, {.costs = options.costs, .ready = options.ready, .observer = &observer});
    }
    if (!options.ready.empty()) throw Error("in lock step all ranks come at once; expected an overlapped run");
    return run_lock_step(problem, options.costs, &observer);
}

}  // namespace

Trace trace(const Problem& problem, const TraceOptions& options) {
    if (const auto reason = problem.algorithm.refusal(problem.facts, problem.settings)) {
        throw Error(std::string(problem.algorithm.name) + " refuses: " + *reason);
    }
    Trace trace;
    Recorder recorder(trace, options.most_messages);
    try {
        // Without so many, not all ranks hear from another: known before any of them takes memory.
        if (options.most_messages > 0 && problem.facts.size - 1 > options.most_messages) throw TooManyMessages();
        trace.outcome = run(problem, options, recorder);
    } catch (const TooManyMessages&) {
        throw Error("more than " + std::to_string(options.most_messages) +
                    " messages; take fewer processes, a shorter vector or longer segments");
    }
    std::stable_sort(trace.messages.begin(), trace.messages.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start, a.from) < std::tie(b.start, b.from);
    });
    std::stable_sort(trace.locals.begin(), trace.locals.end(),
                     [](const auto& a, const auto& b) { return std::tie(a.end, a.rank) < std::tie(b.end, b.rank); });
    return trace;
}

}  // namespace rondo::virtual_machine
