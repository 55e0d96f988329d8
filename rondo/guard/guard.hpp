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

/// Why the library has the calls of a duel that was lost.
inline const char* reason_of(const mpi::Duel& lost) {
    if (lost.is_uncompared()) return not_compared;
    return lost.is_undecided() ? too_busy : faster_here;
}

/// Of such calls, what a duel is about; nothing if nobody doubts what was chosen for them.
inline std::optional<mpi::DuelKind> doubted_kind(const SeenCall& seen, const mpi::CallKey& key,
                                                 const Runtime& runtime) {
    const Instructions& instructions = runtime.instructions;
    const Guard guard = instructions.guard(key.collective);
    if (guard == Guard::off || seen.function.has.local_lengths) [[likely]]  // nobody knows the lengths of all
        return std::nullopt;
    const bool rounding = guard == Guard::exact && seen.reduction != nullptr && !seen.reduction->keeps_bits();
    // The program's own operators may do more than to compute: nobody calls them twice.
    if (rounding && (instructions.learned_directory().empty() || !seen.reduction->predefined())) return std::nullopt;
    return mpi::DuelKind{.collective = static_cast<std::uint8_t>(key.collective),
                         .length = length_class(key.count * key.element_bytes),
                         .commutative = key.commutative,
                         .rounding = rounding};
}

/// As duels count them.
inline float nanoseconds(double seconds) { return static_cast<float>(seconds / nanosecond); }

/// The one that is known, or begun, in this run or in an earlier one; nullptr if there is none.
inline mpi::Duel* known_duel(const mpi::Duel& fresh, mpi::Communicator& communicator) {
    if (mpi::Duel* const known = communicator.duel(fresh.kind(), fresh.chosen())) return known;
    const Choice& choice = *static_cast<const Choice*>(fresh.chosen());
    const Verdict* const verdict = learned().verdict(fresh.kind(), choice, communicator);
    if (verdict == nullptr) return nullptr;
    mpi::Duel duel(fresh.kind(), verdict->is_begun() ? verdict->bytes : fresh.bytes(), fresh.chosen());
    if (verdict->is_begun()) {
        if (!duel.times_calls_of(fresh.bytes())) return nullptr;
        mpi::Duel::Times times{};
        const std::size_t known = std::min(verdict->begun.size(), times.size());
        std::transform(verdict->begun.begin(), verdict->begun.begin() + static_cast<std::ptrdiff_t>(known),
                       times.begin(), nanoseconds);
        duel.resume(std::span(times).first(known));
    } else if (!verdict->is_compared()) duel.settle_uncompared();
    else {
        duel.settle(verdict->is_lost() ? mpi::Rival::library : mpi::Rival::rondo, nanoseconds(verdict->rondo),
                    nanoseconds(verdict->library));
    }
    return communicator.begin_duel(duel);
}

/// The duel that is known, or a new one; nullptr if there are too many.
inline mpi::Duel* duel_about(const mpi::Duel& fresh, mpi::Communicator& communicator) {
    mpi::Duel* const known = known_duel(fresh, communicator);
    return known != nullptr ? known : communicator.begin_duel(fresh);
}

/// A call was left to the library because of a duel that was lost. Counts one more. False if it is not lost any more,
/// or is to be fought again: then the decision must be made anew.
inline bool is_still_lost(mpi::Duel& duel) { return duel.is_over() && duel.is_lost() && !duel.look_again(); }

/// Times a call by the rival whose turn it is. False if the user's error handler has freed the communicator meanwhile,
/// and the duel with it.
template <class CarryOut>
bool time_turn(mpi::Duel& duel, const mpi::Communicator& communicator, int& error, CarryOut&& carry_out) {
    const mpi::Rival rival = duel.next();
    duel.begin();
    const mpi::Communicator* const before = mpi::watch(&communicator);
    const std::uint64_t start = now();
    error = carry_out(rival);
    const std::uint64_t end = now();
    if (mpi::watch(before) != &communicator) return false;
    duel.end(static_cast<float>(end - start));
    return true;
}

/// Ranks do not come together for such calls. The next run shall not wait for them again.
inline void end_uncompared(mpi::Duel& duel, const mpi::Communicator& communicator) {
    const bool has_verdict = duel.comes_again();  // which stays
    duel.abandon();
    if (!has_verdict) learned().note(duel, communicator);
}

/// Ranks have waited for each other in vain, all of them know, and perhaps it was once too often.
inline void wait_in_vain(mpi::Duel& duel, mpi::Communicator& communicator) {
    communicator.lose_patience();
    if (duel.comes_again() || !communicator.has_patience()) end_uncompared(duel, communicator);
}

/// Waits for all ranks. True if they are here, and ready. Else all of them know that, and the duel has noticed it.
inline bool bring_together(mpi::Duel& duel, const SeenCall& seen, bool is_ready) {
    // Who has a part of nothing need not wait, as it may be where lengths differ.
    const bool call_waits_for_all = seen.function.has.waiting_for_all() && !seen.call.counts.is_argument();
    if (!call_waits_for_all && !seen.communicator.has_patience()) {
        end_uncompared(duel, seen.communicator);
        return false;
    }
    switch (roll_call(seen.communicator, seen.call.comm, is_ready, call_waits_for_all)) {
        case RollCall::all_ready: return true;
        case RollCall::not_all_ready: duel.skip(); break;
        case RollCall::not_all_here: wait_in_vain(duel, seen.communicator); break;
    }
    return false;
}

/// The ranks agree on what their calls took, if it is time to, or the next run can go on from there.
inline void judge_if_due(mpi::Duel& duel, const SeenCall& seen) {
    static const MPI_Datatype time_type = MPI_FLOAT;
    static const MPI_Op slowest = MPI_MAX;
    mpi::Communicator& communicator = seen.communicator;
    const bool keeps_begun = duel.is_worth_keeping() && learned().keeps_begun(communicator);
    if (!duel.is_due() && !keeps_begun) return;
    const bool may_be_apart = duel.is_in_row() && !duel.kind().rounding;
    if (may_be_apart && !bring_together(duel, seen, true)) {
        if (!duel.is_over()) duel.forget_row();
        return;
    }
    mpi::Duel::Times times = duel.times();
    const int count = static_cast<int>(times.size());
    if (mpi::library().Allreduce(MPI_IN_PLACE, times.data(), count, time_type, slowest, seen.call.comm) !=
        MPI_SUCCESS) {
        duel.abandon();
        return;
    }
    const bool had_verdict = duel.comes_again();
    const mpi::Rival before = duel.winner();
    duel.judge(times);
    // Each rank remembers calls of its own that went the old way, on other communicators and of other roots, too.
    if (duel.is_over() && had_verdict && duel.winner() != before) mpi::end_era();
    const bool is_verdict = duel.is_over() && !duel.is_undecided();
    if (is_verdict || (keeps_begun && duel.timed_calls() > 0)) learned().note(duel, communicator);
}

/// Who carries out a call that is part of a duel and is not timed; nothing if it is timed, for which all ranks are
/// there now and `is_ready()`, or have been when the row began.
template <class IsReady>
std::optional<mpi::Rival> untimed(mpi::Duel& duel, const SeenCall& seen, IsReady&& is_ready) {
    if (duel.is_stuck()) {
        duel.abandon();
        return duel.winner();
    }
    if (!duel.times_next()) {
        const mpi::Rival rival = duel.next();
        duel.begin();
        return rival;
    }
    const mpi::Rival rival = duel.stand_in();
    if (!duel.needs_all_ranks() || bring_together(duel, seen, is_ready())) return std::nullopt;
    return duel.is_over() ? duel.winner() : rival;
}

/// A call that is part of a duel: `carry_out` by the rival whose turn it is. Returns what that returns.
template <class CarryOut>
int contest(mpi::Duel& duel, const SeenCall& seen, CarryOut&& carry_out) {
    if (const auto rival = untimed(duel, seen, [] { return true; })) return carry_out(*rival);
    int error = MPI_SUCCESS;
    if (time_turn(duel, seen.communicator, error, carry_out)) judge_if_due(duel, seen);
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
int contest_twice(mpi::Duel& duel, const SeenCall& seen, const mpi::CallKey& key, bool may_be_tried,
                  CarryOut&& carry_out) {
    std::optional<LibraryBefore> library_before;
    const auto is_ready = [&] { return library_before.emplace(seen, key, may_be_tried).is_ready(); };
    if (untimed(duel, seen, is_ready)) return carry_out(true);
    int error = MPI_SUCCESS;
    const mpi::Communicator& communicator = seen.communicator;
    const int repetitions = duel.repetitions();
    for (int call = 0; call < repetitions; ++call) {
        library_before->take_input(seen.call.output);
        if (!time_turn(duel, communicator, error, [&](mpi::Rival) { return library_before->carry_out(); }))
            return error;
    }
    library_before->take_input(seen.call.output);
    mpi::library().Barrier(seen.call.comm);  // all ranks are in this call
    for (int call = 0; call < repetitions; ++call) {
        if (call > 0) library_before->give_back_input(seen.call.output);
        const bool is_last = call + 1 == repetitions;
        if (!time_turn(duel, communicator, error, [&](mpi::Rival) { return carry_out(is_last); })) return error;
    }
    judge_if_due(duel, seen);
    return error;
}

}  // namespace rondo::interposer
