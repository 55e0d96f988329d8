// SPDX-License-Identifier: BSD-3-Clause
#include "conductor.hpp"

#include <algorithm>
#include <string_view>

#include "clock.hpp"

namespace rondo::bench {
namespace {

constexpr const char* valid = "valid";
constexpr double longest_lead = 2;  // seconds
constexpr double spare_lead = 0.5e-3;
constexpr double first_refresh = 0.1;     // seconds; then less and less often,
constexpr double slowest_refresh = 1;     // but so often at least
constexpr double share_of_warmup = 0.25;  // of the time
// A start that was further apart than this does not count: a part of the time, or what no machine does better.
constexpr double tolerated_skew = 0.05, finest_skew = 3e-6;
// Where ranks share cores they sleep until the start, and the last of a core wakes after the others have begun. Times
// run from the moment that was announced, so this makes them longer, never shorter.
constexpr double crowded_skew_per_rank = 100e-6;

}  // namespace

Conductor::Conductor(const Plan& plan, const std::vector<std::string>& refusals, Measurement& measurement,
                     Records& records, const GlobalClock& clock, const Messages& messages)
    : plan_(plan), refusals_(refusals), measurement_(measurement), records_(records), clock_(clock),
      messages_(messages), random_(plan.seed), between_refreshes_(first_refresh) {}

Outcome Conductor::order(Command::Kind kind, std::int64_t count) {
    Command command{.kind = kind, .count = count};
    return measurement_.obey(command);
}

void Conductor::run() {
    const double began = monotonic_seconds();
    learn_lead();
    for (std::size_t i = 0; i < plan_.counts.size(); ++i) {
        const double left = plan_.seconds - (monotonic_seconds() - began);
        measure(plan_.counts[i], left / static_cast<double>(plan_.counts.size() - i));
    }
    const Outcome last = order(Command::Kind::end);
    Record record("end");
    record.add("retransmissions", last.retransmissions).add("dropped", measurement_.cluster().dropped());
    record.add("clock_error", std::max(clock_error_, last.clock_error));
    if (plan_.clock_skew > 0) record.add("true_clock_error", std::max(true_clock_error_, last.true_clock_error));
    records_.write(record);
    records_.flush();
}

/// A command and its outcome take twice as long as the command alone; both are needed only if ranks are slow to wake.
void Conductor::learn_lead() {
    order(Command::Kind::nothing);  // connects the ranks
    for (int i = 0; i < 3; ++i) {
        const double began = monotonic_seconds();
        order(Command::Kind::nothing);
        lead_ = std::max(lead_, 0.75 * (monotonic_seconds() - began) + spare_lead);
    }
    first_lead_ = lead_;
}

std::vector<Conductor::Configuration> Conductor::configurations(std::int64_t count) {
    std::vector<Configuration> made;
    for (std::size_t i = 0; i < plan_.candidates.size(); ++i) {
        if (!refusals_[i].empty() || plan_.leaves_out(count, plan_.candidates[i])) continue;
        for (const Form form : plan_.forms) {
            for (const Start start : plan_.starts) {
                made.push_back({next_id_++, static_cast<std::int32_t>(i), form, start});
                Record record("configuration");
                record.add("id", made.back().id).add("candidate", plan_.candidates[i]);
                record.add("form", name_of(form)).add("start", name_of(start)).add("count", count);
                record.add("bytes", whole_bytes(*plan_.collective, plan_.type, count, messages_.size()));
                records_.write(record.add("bus_factor", plan_.collective->bus_factor(messages_.size())));
            }
        }
    }
    return made;
}

/// At least one round, whatever time it takes.
void Conductor::measure(std::int64_t count, double seconds) {
    const double began = monotonic_seconds();
    const auto spent = [&] { return monotonic_seconds() - began; };
    order(Command::Kind::prepare, count);
    std::vector<Configuration> all = configurations(count);
    for (int i = 0; i < plan_.warmups && (i == 0 || spent() < share_of_warmup * seconds); ++i) round(all, true);
    double longest_round = 0;
    for (int i = 0; !enough(all, i) && (i == 0 || spent() + longest_round < seconds); ++i) {
        const double before = spent();
        round(all, false);
        longest_round = std::max(longest_round, spent() - before);
    }
}

/// What did not count is made up for, within reason.
bool Conductor::enough(const std::vector<Configuration>& configurations, int round) const {
    if (round >= 2 * plan_.repetitions) return true;
    return std::all_of(configurations.begin(), configurations.end(),
                       [&](const Configuration& each) { return each.refused || each.valid >= plan_.repetitions; });
}

/// Each configuration once, in a new order every time: what changes with time, and what one leaves behind for the
/// next, falls on all.
void Conductor::round(std::vector<Configuration>& configurations, bool warmup) {
    std::vector<std::size_t> sequence(configurations.size());
    for (std::size_t i = 0; i < sequence.size(); ++i) sequence[i] = i;
    // Not std::shuffle, which differs between implementations.
    for (std::size_t i = sequence.size(); i > 1; --i) std::swap(sequence[i - 1], sequence[random_() % i]);
    for (const std::size_t i : sequence) {
        if (configurations[i].refused) continue;
        keep_clock();
        repetition(configurations[i], warmup);
    }
}

/// A call, and then another one beside which the program computes, if that is asked for.
void Conductor::repetition(Configuration& configuration, bool warmup) {
    Command command{.kind = Command::Kind::repeat,
                    .candidate = configuration.candidate,
                    .form = configuration.form,
                    .start = configuration.start};
    Outcome outcome = carry_out(command);
    if (outcome.left_to_library > 0) return refuse(configuration);
    const double reference = command.start == Start::clock ? command.due : outcome.first_start;
    const char* state = state_of(command, outcome);
    Record record("repetition");
    record.add("id", configuration.id).add("seconds", outcome.slowest);
    record.add("mean", outcome.total / messages_.size()).add("fastest", outcome.fastest);
    record.add("skew", std::max(outcome.last_start - reference, 0.0));
    if (plan_.pieces > 0 && configuration.form != Form::blocking) {
        command.computing = plan_.computing > 0 ? plan_.computing : outcome.slowest;
        const Outcome overlapped = carry_out(command);
        if (std::string_view(state) == valid) state = state_of(command, overlapped);
        outcome.wrong = std::max(outcome.wrong, overlapped.wrong);
        record.add("computing", command.computing).add("overlapped", overlapped.slowest);
    }
    if (warmup) state = "warmup";
    if (std::string_view(state) == valid) ++configuration.valid;
    records_.write(record.add("state", state).add("wrong", outcome.wrong));
}

/// Together, as soon as all can have heard of it.
Outcome Conductor::carry_out(Command& command) {
    command.due = clock_.now() + lead_;
    const Outcome outcome = measurement_.obey(command);
    lead_ = outcome.late > 0 ? std::min(1.5 * lead_, longest_lead) : std::max(0.98 * lead_, first_lead_);
    clock_error_ = std::max(clock_error_, outcome.clock_error);
    true_clock_error_ = std::max(true_clock_error_, outcome.true_clock_error);
    return outcome;
}

void Conductor::refuse(Configuration& configuration) {
    configuration.refused = true;
    Record record("refused");
    const std::string& reason = measurement_.reason();
    record.add("id", configuration.id).add("reason", reason.empty() ? "refused on another rank" : reason);
    records_.write(record);
}

const char* Conductor::state_of(const Command& command, const Outcome& outcome) const {
    if (measurement_.cluster().disturbed(measurement_.lateness(), outcome.slowest)) return "disturbed";
    if (command.start == Start::barrier) return valid;
    const Machine& machine = measurement_.machine();
    const double finest = machine.crowded() ? crowded_skew_per_rank * machine.ranks_per_core : finest_skew;
    const double tolerance = std::max(finest + outcome.clock_error, tolerated_skew * outcome.slowest);
    return outcome.late > 0 || outcome.last_start - command.due > tolerance ? "late" : valid;
}

/// The longer a clock has been watched, the better its rate is known.
void Conductor::keep_clock() {
    if (clock_.shared() || monotonic_seconds() < next_refresh_) return;
    order(Command::Kind::refresh_clock);
    next_refresh_ = monotonic_seconds() + between_refreshes_;
    between_refreshes_ = std::min(2 * between_refreshes_, slowest_refresh);
}

}  // namespace rondo::bench
