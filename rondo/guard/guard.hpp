// SPDX-License-Identifier: BSD-3-Clause
// What the rules have chosen is compared with the library's own collective while the program runs.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "rondo/guard/agreement.hpp"
#include "rondo/guard/history.hpp"
#include "rondo/interposer/report.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

constexpr const char* compared = "while Rondo's choice is in doubt";
constexpr const char* faster_here = "faster here than Rondo's choice";
constexpr const char* not_compared = "ranks do not come together to compare";
constexpr const char* too_busy = "the machine is too busy to compare";

/// Why the library has the calls of a trial that was lost.
inline const char* reason_of(const guard::Trial& lost) {
    if (lost.is_uncompared()) return not_compared;
    return lost.is_undecided() ? too_busy : faster_here;
}

/// Of such calls, what a trial is about; nothing if nobody doubts what was chosen for them.
inline std::optional<guard::TrialKey> trial_key_of(const SeenCall& seen, const mpi::CallKey& key,
                                                   const Runtime& runtime) {
    const Instructions& instructions = runtime.instructions;
    const Guard guard = instructions.guard(key.collective);
    if (guard == Guard::off || seen.function.has.local_lengths) [[likely]]  // nobody knows the lengths of all
        return std::nullopt;
    const bool rounding = guard == Guard::exact && seen.reduction != nullptr && !seen.reduction->keeps_bits();
    // The program's own operators may do more than to compute: nobody calls them twice.
    if (rounding && (instructions.learned_directory().empty() || !seen.reduction->predefined())) return std::nullopt;
    return guard::TrialKey{.collective = static_cast<std::uint8_t>(key.collective),
                           .length = length_class(key.count * key.element_bytes),
                           .commutative = key.commutative,
                           .rounding = rounding};
}

/// As trials count them.
inline float nanoseconds(double seconds) { return static_cast<float>(seconds / nanosecond); }

/// The one that is known, or begun, in this run or in an earlier one; nullptr if there is none.
inline guard::Trial* known_trial(const guard::Trial& fresh, mpi::Communicator& communicator) {
    if (guard::Trial* const known = communicator.trial(fresh.kind(), fresh.chosen())) return known;
    const Choice& choice = *static_cast<const Choice*>(fresh.chosen());
    const Verdict* const verdict = history().verdict(fresh.kind(), choice, communicator);
    if (verdict == nullptr) return nullptr;
    guard::Trial trial(fresh.kind(), verdict->is_begun() ? verdict->bytes : fresh.bytes(), fresh.chosen());
    if (verdict->is_begun()) {
        if (!trial.times_calls_of(fresh.bytes())) return nullptr;
        guard::Trial::Times times{};
        const std::size_t known = std::min(verdict->begun.size(), times.size());
        std::transform(verdict->begun.begin(), verdict->begun.begin() + static_cast<std::ptrdiff_t>(known),
                       times.begin(), nanoseconds);
        trial.resume(std::span(times).first(known));
    } else if (!verdict->is_compared()) trial.settle_uncompared();
    else {
        trial.settle(verdict->is_lost() ? guard::Contender::library : guard::Contender::rondo,
                     nanoseconds(verdict->rondo), nanoseconds(verdict->library));
    }
    return communicator.begin_trial(trial);
}

/// The trial that is known, or a new one; nullptr if there are too many.
inline guard::Trial* trial_about(const guard::Trial& fresh, mpi::Communicator& communicator) {
    guard::Trial* const known = known_trial(fresh, communicator);
    return known != nullptr ? known : communicator.begin_trial(fresh);
}

/// A call was left to the library because of a trial that was lost. Counts one more. False if it is not lost any more,
/// or comes again: then the decision must be made anew.
inline bool is_still_lost(guard::Trial& trial) { return trial.is_over() && trial.is_lost() && !trial.revalidate(); }

/// Times a call by the contender whose turn it is. False if the user's error handler has freed the communicator
/// meanwhile, and the trial with it.
template <class CarryOut>
bool time_turn(guard::Trial& trial, const mpi::Communicator& communicator, int& error, CarryOut&& carry_out) {
    const guard::Contender contender = trial.next();
    trial.begin();
    const mpi::Communicator* const before = mpi::watch(&communicator);
    const std::uint64_t start = now();
    error = carry_out(contender);
    const std::uint64_t end = now();
    if (mpi::watch(before) != &communicator) return false;
    trial.end(static_cast<float>(end - start));
    return true;
}

/// Ranks do not come together for such calls. The next run shall not wait for them again.
inline void end_uncompared(guard::Trial& trial, const mpi::Communicator& communicator) {
    const bool has_verdict = trial.revalidates();  // which stays
    trial.abandon();
    if (!has_verdict) history().note(trial, communicator);
}

/// Ranks have waited for each other until the timeout, all of them know, and perhaps it was once too often.
inline void count_timeout(guard::Trial& trial, mpi::Communicator& communicator) {
    communicator.count_timeout();
    if (trial.revalidates() || !communicator.may_wait()) end_uncompared(trial, communicator);
}

/// Waits for all ranks. True if they are here, and ready. Else all of them know that, and the trial has noticed it.
inline bool bring_together(guard::Trial& trial, const SeenCall& seen, bool is_ready) {
    // Who has a part of nothing need not wait, as it may be where lengths differ.
    const bool call_waits_for_all = seen.function.has.waiting_for_all() && !seen.call.counts.is_argument();
    if (!call_waits_for_all && !seen.communicator.may_wait()) {
        end_uncompared(trial, seen.communicator);
        return false;
    }
    switch (timed_barrier(seen.communicator, seen.call.comm, is_ready, call_waits_for_all)) {
        case Attendance::all_ready: return true;
        case Attendance::not_all_ready: trial.skip(); break;
        case Attendance::not_all_here: count_timeout(trial, seen.communicator); break;
    }
    return false;
}

/// The ranks agree on what their calls took, if it is time to, or the next run can go on from there.
inline void judge_if_due(guard::Trial& trial, const SeenCall& seen) {
    static const MPI_Datatype time_type = MPI_FLOAT;
    static const MPI_Op slowest = MPI_MAX;
    mpi::Communicator& communicator = seen.communicator;
    const bool keeps_begun = trial.is_worth_keeping() && history().keeps_begun(communicator);
    if (!trial.is_due() && !keeps_begun) return;
    const bool may_be_apart = trial.is_in_row() && !trial.kind().rounding;
    if (may_be_apart && !bring_together(trial, seen, true)) {
        if (!trial.is_over()) trial.forget_row();
        return;
    }
    guard::Trial::Times times = trial.times();
    const int count = static_cast<int>(times.size());
    if (mpi::library().Allreduce(MPI_IN_PLACE, times.data(), count, time_type, slowest, seen.call.comm) !=
        MPI_SUCCESS) {
        trial.abandon();
        return;
    }
    const bool had_verdict = trial.revalidates();
    const guard::Contender before = trial.winner();
    trial.judge(times);
    // Each rank remembers calls of its own that went the old way, on other communicators and of other roots, too.
    if (trial.is_over() && had_verdict && trial.winner() != before) mpi::end_epoch();
    const bool is_verdict = trial.is_over() && !trial.is_undecided();
    if (is_verdict || (keeps_begun && trial.timed_calls() > 0)) history().note(trial, communicator);
}

/// Who carries out a call that is part of a trial and is not timed; nothing if it is timed, for which all ranks are
/// there now and `is_ready()`, or have been when the row began.
template <class IsReady>
std::optional<guard::Contender> untimed(guard::Trial& trial, const SeenCall& seen, IsReady&& is_ready) {
    if (trial.is_stuck()) {
        trial.abandon();
        return trial.winner();
    }
    if (!trial.times_next()) {
        const guard::Contender contender = trial.next();
        trial.begin();
        return contender;
    }
    const guard::Contender contender = trial.stand_in();
    if (!trial.needs_all_ranks() || bring_together(trial, seen, is_ready())) return std::nullopt;
    return trial.is_over() ? trial.winner() : contender;
}

/// A call that is part of a trial: `carry_out` by the contender whose turn it is. Returns what that returns.
template <class CarryOut>
int contest(guard::Trial& trial, const SeenCall& seen, CarryOut&& carry_out) {
    if (const auto contender = untimed(trial, seen, [] { return true; })) return carry_out(*contender);
    int error = MPI_SUCCESS;
    if (time_turn(trial, seen.communicator, error, carry_out)) judge_if_due(trial, seen);
    return error;
}

/// The library's own collective before Rondo's: the result is Rondo's, the input stays. Both may be repeated.
class LibraryBefore {
  public:
    /// `may_be_tried`: as contest_twice has it.
    LibraryBefore(const SeenCall& seen, const mpi::CallKey& key, bool may_be_tried)
        : function_(seen.function), call_(seen.call), is_ready_(may_be_tried) {
        if (!key.in_place || !is_ready_) return;
        mpi::notice_device_runtimes();
        const auto bytes = static_cast<std::size_t>(seen.type.span(key.count));
        constexpr std::size_t most = std::size_t{256} << 20;  // more, and the program might miss it
        if (bytes <= most && !mpi::on_device(call_.output)) vector_.reset(new (std::nothrow) char[bytes]);
        is_ready_ = vector_ != nullptr;
        if (!is_ready_) return;
        bytes_ = bytes;
        if (call_.input == call_.output) call_.input = vector_.get();
        call_.output = vector_.get();
    }
    [[nodiscard]] bool is_ready() const { return is_ready_; }
    [[nodiscard]] int carry_out() const { return function_.native(mpi::library(), call_); }
    /// Before each call by the library: its input, of a call in place, is the user's. After all of them, this keeps it
    /// for Rondo's calls.
    void take_input(const void* users) const {
        if (vector_ != nullptr) std::memcpy(vector_.get(), users, bytes_);
    }
    /// Before Rondo's call comes again.
    void give_back_input(void* users) const {
        if (vector_ != nullptr) std::memcpy(users, vector_.get(), bytes_);
    }

  private:
    const Wrapped& function_;
    UserCall call_;
    bool is_ready_;
    std::size_t bytes_ = 0;
    std::unique_ptr<char[]> vector_;  // of a call in place, whose input would be gone
};

/// As `contest`, where bits depend on who carries the call out: Rondo does in any case. `may_be_tried`: this rank has a
/// call that both can carry out. `carry_out(is_last)`: only the last time counts as a call of the program.
template <class CarryOut>
int contest_twice(guard::Trial& trial, const SeenCall& seen, const mpi::CallKey& key, bool may_be_tried,
                  CarryOut&& carry_out) {
    std::optional<LibraryBefore> library_before;
    const auto is_ready = [&] { return library_before.emplace(seen, key, may_be_tried).is_ready(); };
    if (untimed(trial, seen, is_ready)) return carry_out(true);
    int error = MPI_SUCCESS;
    const mpi::Communicator& communicator = seen.communicator;
    const int repetitions = trial.repetitions();
    for (int call = 0; call < repetitions; ++call) {
        library_before->take_input(seen.call.output);
        if (!time_turn(trial, communicator, error, [&](guard::Contender) { return library_before->carry_out(); }))
            return error;
    }
    library_before->take_input(seen.call.output);
    mpi::library().Barrier(seen.call.comm);  // all ranks are in this call
    for (int call = 0; call < repetitions; ++call) {
        if (call > 0) library_before->give_back_input(seen.call.output);
        const bool is_last = call + 1 == repetitions;
        if (!time_turn(trial, communicator, error, [&](guard::Contender) { return carry_out(is_last); })) return error;
    }
    judge_if_due(trial, seen);
    return error;
}

}  // namespace rondo::interposer
