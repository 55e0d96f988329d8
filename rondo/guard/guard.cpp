// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/guard.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "rondo/backends/mpi/epoch.hpp"

namespace rondo::guard {
namespace {

/// Ends a trial without a comparison, because ranks do not come together. The next run shall not wait for them again.
void end_uncompared(Trial& trial, Site& site) {
    const bool has_verdict = trial.revalidates();  // the verdict stays
    trial.abandon();
    if (!has_verdict) site.note(trial);
}

/// Records that ranks have waited in vain, which all of them know, and ends the trial if that was once too often.
void record_timeout(Trial& trial, Site& site) {
    site.trials().count_timeout();
    if (trial.revalidates() || !site.trials().may_wait()) end_uncompared(trial, site);
}

/// Agrees on the calls since ranks were together last. Returns what each took on its slowest rank; nothing if ranks
/// cannot agree, or their calls do not count, which the trial has noticed.
std::optional<Trial::Times> agreed_times(Trial& trial, Site& site) {
    std::array<float, Trial::most_values> values{trial.pause()};
    std::ranges::copy(trial.times(), values.begin() + 1);
    const bool notes_pauses = trial.notes_pauses();
    const std::size_t calls = trial.watches() ? 0 : static_cast<std::size_t>(trial.timed_calls());
    const std::span<float> agreed = std::span(values).subspan(notes_pauses ? 0 : 1).first(notes_pauses + calls);
    const std::uint64_t began = site.now().time;
    if (trial.leaves_ranks_apart()) {
        if (!bring_together(trial, site, true, agreed)) {
            if (!trial.is_over()) trial.forget_row();
            return std::nullopt;
        }
    } else if (!site.agree_on(agreed)) {
        trial.abandon();
        return std::nullopt;
    }
    if (notes_pauses && !trial.knows_alone()) {
        // The rank that the others have waited for has waited the least.
        auto least = -static_cast<float>(site.now().time - began);
        if (!site.agree_on({&least, 1})) {
            trial.abandon();
            return std::nullopt;
        }
        trial.know_together(-least);
    }
    if (notes_pauses && !trial.judge_pauses(values[0])) return std::nullopt;
    Trial::Times times{};
    std::copy_n(values.begin() + 1, times.size(), times.begin());
    return times;
}

}  // namespace

const char* reason_of(const Trial& lost) {
    if (!lost.is_uncompared()) return no_faster_here;
    return lost.alone() == 0 ? not_compared : too_busy;
}

Trial* begin_call(const Trial& fresh, Site& site) {
    Trial* const trial = site.trials().join(fresh, [&] { return site.take_up(fresh); });
    if (trial != nullptr) trial->count_call();
    return trial;
}

bool gives_up(Trial& trial, Site& site) {
    if (site.call_waits_for_all() || site.trials().may_wait()) return false;
    end_uncompared(trial, site);
    return true;
}

bool bring_together(Trial& trial, Site& site, bool is_ready, std::span<float> times) {
    if (gives_up(trial, site)) return false;
    switch (site.come_together(is_ready, times)) {
        case Attendance::all_ready: return true;
        case Attendance::not_all_ready: trial.skip(); break;
        case Attendance::not_all_here: record_timeout(trial, site); break;
    }
    return false;
}

void judge_if_due(Trial& trial, Site& site) {
    const bool keeps_begun = site.keeps_begun();
    if (!trial.is_due() && !(keeps_begun && trial.is_worth_keeping())) return;
    const std::optional<Trial::Times> times = agreed_times(trial, site);
    if (!times) return;
    const bool had_verdict = trial.revalidates();
    const Contender before = trial.winner();
    trial.judge(*times);
    // Each rank has cached calls of its own that went the old way, also on other communicators and for other roots.
    if (trial.is_over() && had_verdict && trial.winner() != before) mpi::end_epoch();
    const bool is_verdict = trial.is_over() && !trial.is_undecided();
    if (is_verdict || (keeps_begun && trial.may_go_on_later())) site.note(trial);
}

}  // namespace rondo::guard
