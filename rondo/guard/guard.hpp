// SPDX-License-Identifier: BSD-3-Clause
// Compares what the rules have chosen with the library's own collective while the program runs. Without <mpi.h>.
//
// A call whose choice is in doubt first goes through `begin_call`. Its trial then says what becomes of it: it is
// compared (`compare`, or `compare_twice` where bits depend on who carries it out), or Rondo or the library has it.
#pragma once

#include <cstdint>
#include <utility>

#include "rondo/guard/site.hpp"

namespace rondo::guard {

/// Reasons why the library has calls, as reports have them.
constexpr const char* compared = "while Rondo's choice is in doubt";
constexpr const char* no_faster_here = "Rondo's choice is no faster here";
constexpr const char* not_compared = "ranks do not come together to compare";
constexpr const char* too_busy = "the machine is too busy to compare";

/// Why the library has the calls of a trial that was lost.
const char* reason_of(const Trial& lost);

/// Finds or begins the trial of such calls and counts the call; nullptr if there are too many. Called once for each
/// call, on every rank that does not take the fast path, whatever else the rank remembers.
Trial* begin_call(const Trial& fresh, Site& site);

/// True if ranks have waited for each other in vain too often, and do not any more: that ends the trial.
bool gives_up(Trial& trial, Site& site);
/// Waits for all ranks, and replaces the times by those of the slowest. True if they are here, and ready. Else all of
/// them know that they are not, and the trial has noticed.
bool bring_together(Trial& trial, Site& site, bool is_ready, std::span<float> times = {});
/// Lets the ranks agree on what their calls took, if it is time to, or if the next run can go on from there.
void judge_if_due(Trial& trial, Site& site);

/// Begins the next call that is compared. True if it is to be timed: all ranks are there for it, and `is_ready()`, or
/// it is one of a batch. Else the trial's stand-in carries it out.
template <class IsReady>
bool begin_timed_call(Trial& trial, Site& site, IsReady&& is_ready) {
    if (trial.is_stuck()) {
        trial.abandon();
        return false;
    }
    if (!trial.times_next()) {
        trial.begin_call();
        return false;
    }
    if (trial.leaves_ranks_apart() && gives_up(trial, site)) return false;
    return !trial.needs_all_ranks() || bring_together(trial, site, is_ready());
}

/// Times a call by the contender whose turn it is. False if there is nothing to judge: the program has freed the
/// communicator meanwhile, or nothing more is watched.
template <class CarryOut>
bool time_call(Trial& trial, Site& site, int& error, CarryOut&& carry_out) {
    const Contender contender = trial.next();
    trial.begin_call();
    const Moment began = site.now();
    error = carry_out(contender);
    if (site.is_gone()) return false;
    const Moment ended = site.now();
    if (!trial.watches()) trial.record(static_cast<float>(ended.time - began.time));
    return !trial.notes_pauses() || trial.note_pause(began, ended);
}

/// Makes a call that is part of a trial: `carry_out(contender)` by the one whose turn it is. Returns what that returns.
template <class CarryOut>
int compare(Trial& trial, Site& site, CarryOut&& carry_out) {
    const Contender stand_in = trial.stand_in();
    if (!begin_timed_call(trial, site, [] { return true; })) return carry_out(stand_in);
    int error = 0;
    if (time_call(trial, site, error, carry_out)) judge_if_due(trial, site);
    return error;
}

/// Compares a call whose bits depend on who carries it out: the library runs first, then Rondo, whose result is left.
/// `rehearsal`: the library's calls. If this call is timed, it has to prepare(), which is true if both can carry the
/// call out on this rank. Before each of its calls, and after the last one, it has to take_input(); before Rondo's call
/// is repeated, to give_back_input(). `carry_out(is_last)`: only the last time counts as a call of the program.
template <class Rehearsal, class CarryOut>
int compare_twice(Trial& trial, Site& site, Rehearsal&& rehearsal, CarryOut&& carry_out) {
    if (!begin_timed_call(trial, site, [&] { return rehearsal.prepare(); })) return carry_out(true);
    int error = 0;
    const int repetitions = trial.repetitions();
    for (int call = 0; call < repetitions; ++call) {
        rehearsal.take_input();
        if (!time_call(trial, site, error, [&](Contender) { return rehearsal.carry_out(); })) return error;
    }
    rehearsal.take_input();
    site.meet();
    for (int call = 0; call < repetitions; ++call) {
        if (call > 0) rehearsal.give_back_input();
        const bool is_last = call + 1 == repetitions;
        if (!time_call(trial, site, error, [&](Contender) { return carry_out(is_last); })) return error;
    }
    judge_if_due(trial, site);
    return error;
}

}  // namespace rondo::guard
