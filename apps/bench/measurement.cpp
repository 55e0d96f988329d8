// SPDX-License-Identifier: BSD-3-Clause
#include "measurement.hpp"

#include <algorithm>

namespace rondo::bench {
namespace {

/// Where ranks share cores, longer results are checked only when all ranks are done: checking takes processor time.
constexpr std::int64_t most_bytes_checked_at_once = 32 << 10;

/// Reduced and broadcast for the waiting alone.
struct Nothing {
    char nothing = 0;
    void merge(const Nothing&) {}
};

}  // namespace

void Outcome::merge(const Outcome& other) {
    slowest = std::max(slowest, other.slowest);
    total += other.total;
    fastest = std::min(fastest, other.fastest);
    first_start = std::min(first_start, other.first_start);
    last_start = std::max(last_start, other.last_start);
    clock_error = std::max(clock_error, other.clock_error);
    true_clock_error = std::max(true_clock_error, other.true_clock_error);
    late += other.late;
    wrong += other.wrong;
    left_to_library += other.left_to_library;
    retransmissions += other.retransmissions;
}

Measurement::Measurement(const Plan& plan, MPI_Comm comm, const Machine& machine, const Computing& computing,
                         GlobalClock& clock, const Messages& messages)
    : plan_(plan), comm_(comm), machine_(machine), computing_(computing), clock_(clock), messages_(messages),
      retransmitted_before_(retransmitted_segments()) {}

Outcome Measurement::obey(Command& command) {
    messages_.broadcast(&command, sizeof command);
    Outcome outcome;
    switch (command.kind) {
        case Command::Kind::prepare: prepare(command.count); break;
        case Command::Kind::repeat: repeat(command, outcome); break;
        case Command::Kind::refresh_clock: clock_.refresh(); break;
        default: break;
    }
    outcome.clock_error = clock_.error();
    outcome.true_clock_error = clock_.shared() ? 0 : clock_.true_error();
    if (machine_.first_on_node && command.kind == Command::Kind::end) {
        outcome.retransmissions = retransmitted_segments() - retransmitted_before_;
    }
    messages_.reduce(outcome);
    stop_watching();
    return outcome;
}

void Measurement::prepare(std::int64_t count) {
    calls_.reset();
    problem_ = std::make_unique<Problem>(*plan_.collective, plan_.type, plan_.op, plan_.parts, count, messages_.rank(),
                                         messages_.size());
    calls_ = std::make_unique<Calls>(plan_, *problem_, comm_);
    problem_->prepare(++repetition_);
}

void Measurement::repeat(const Command& command, Outcome& outcome) {
    const Collective& collective = *plan_.collective;
    calls_->prepare(command.candidate, command.form);

    start(command, outcome);
    const double began = clock_.now();
    calls_->begin();
    if (command.computing > 0) computing_.run(command.computing, plan_.pieces, calls_->request());
    calls_->finish();
    const double ended = clock_.now();

    const bool by_clock = command.start == Start::clock && !collective.rank_0_starts;
    const bool answers = collective.rank_0_starts && messages_.rank() != 0;
    const double seconds = answers ? 0 : (ended - (by_clock ? command.due : began)) * collective.time_factor;
    outcome.slowest = outcome.total = outcome.fastest = seconds;
    outcome.first_start = outcome.last_start = answers ? command.due : began;
    outcome.left_to_library = calls_->left_to_library(reason_) ? 1 : 0;
    if (settles()) {
        Nothing nothing;
        messages_.reduce(nothing);
        stop_watching();
        messages_.broadcast(&nothing, sizeof nothing);
    }
    outcome.wrong = problem_->right() ? 0 : 1;
    problem_->prepare(++repetition_);
}

void Measurement::start(const Command& command, Outcome& outcome) {
    if (command.start == Start::clock) {
        outcome.late = clock_.now() > command.due ? 1 : 0;
        clock_.wait_until(command.due, machine_.crowded());
    } else {
        static const auto barrier = reinterpret_cast<int (*)(MPI_Comm)>(library_function("MPI_Barrier"));
        barrier(comm_);
        barrier(comm_);
    }
    if (messages_.rank() == 0) {
        cluster_.watch();
        watching_ = true;
    }
}

/// Once all ranks are known to be done.
void Measurement::stop_watching() {
    if (watching_) lateness_ = cluster_.lateness();
    watching_ = false;
}

bool Measurement::settles() const { return machine_.crowded() && problem_->bytes() > most_bytes_checked_at_once; }

}  // namespace rondo::bench
