// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/trial.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace rondo::guard {

Trial::Trial(TrialKey key, std::int64_t bytes, const void* chosen)
    : key_(key), bytes_(bytes), chosen_(chosen), takes_effect_(!key.rounding) {
    if (key.any_length) first_round_ = Comparison::few;
    begin_series(Series::alone);
    if (!key.runs_ahead || is_long()) return;
    begin_series(key.rounding ? Series::watched : Series::in_row);
    is_in_question_ = !key.rounding;
}

void Trial::settle_uncompared(float alone) {
    abandon();
    overlaps_ = about_row_ = alone > 0;
    alone_ = alone;
    winner_ = Contender::library;
    takes_effect_ = true;
}

void Trial::settle(Contender winner, float rondo, float library, float alone) {
    winner_ = winner;
    overlaps_ = about_row_ = alone > 0;
    alone_ = overlaps_ ? alone : std::min(rondo, library);
    set_times(rondo, library);
    cost_ = overlaps_ ? cost_of_series(most_calls / 2, true) : 0;
    finding_ = Comparison::Finding::clear;
    takes_effect_ = true;
    close();
}

void Trial::resume(std::span<const float> times) {
    std::size_t known = times.size() < most_calls ? times.size() : 0;
    if (key_.rounding) known -= known % 2;
    if (known == 0) return;
    begin_series(Series::alone);
    std::copy_n(times.begin(), known, times_.begin());
    timed_ = judged_ = static_cast<std::uint8_t>(known);
    has_watched_ = known >= std::size_t{2} * first_round_;  // or nothing would ever be added to what is known
    leans_to_rondo_ = compare_calls().leans_to_rondo;
}

void Trial::count_call() {
    if (!over_) {
        calls_left_ = -1;  // the fast path goes on taking from it, and it must not overflow
        return;
    }
    if (calls_left_ >= 0) --calls_left_;
    if (calls_left_ >= 0) return;
    if (key_.rounding && (keeps_bits() || !wants_to_watch())) {
        calls_left_ = most_calls_left;
        return;
    }
    over_ = false;
    revalidates_ = true;
    begin_series(wants_to_watch() ? Series::watched : is_short() || overlaps_ ? Series::in_row : Series::alone);
    starts_apart_ = true;
}

Contender Trial::stand_in() const {
    if (revalidates_) return winner_;
    return leans_to_rondo_ ? Contender::rondo : by_default();
}

void Trial::begin_call() {
    if (!times_next()) {
        --calls_to_wait_;
    } else if (watches()) {
        ++watched_;
    } else {
        ++timed_;
        starts_apart_ = false;
        if (rests()) calls_to_wait_ = calls_to_rest;
    }
}

bool Trial::is_stuck() const { return is_due() || (!over_ && compares_twice() && timed_ % (2 * repetitions()) != 0); }

bool Trial::is_due() const {
    if (watches()) return !over_ && watched_ == watched_calls;
    if (over_ || judged_ == timed_) return false;
    if (is_in_row()) {
        const bool may_overlap = overlaps_ || is_in_question_;
        return timed_ == most_calls || (timed_ == first_batches && may_overlap && !key_.any_length);
    }
    if (rows_ == most_rows) return timed_ == 2 * last_rounds;
    return std::ranges::any_of(rounds, [this](int calls) { return calls >= first_round_ && timed_ == 2 * calls; });
}

bool Trial::may_go_on_later() const {
    const bool has_pairs = !key_.rounding || timed_ % 2 == 0;
    return !is_in_row() && rows_ == 0 && !revalidates_ && !key_.any_length && timed_ > 0 && has_pairs;
}

bool Trial::is_worth_keeping() const { return series_ == Series::alone && may_go_on_later() && (is_long() || rests()); }

void Trial::judge(const Times& slowest) {
    times_ = slowest;
    const bool is_due = this->is_due();
    judged_ = timed_;
    if (!is_due) return;
    const Comparison found = compare_calls();
    if (is_in_row()) {
        judge_row(found);
        return;
    }
    const bool are_short = std::max(fastest(Contender::rondo), fastest(Contender::library)) < short_call;
    const bool is_last = timed_ == 2 * (rows_ == most_rows ? last_rounds : rounds.back());
    const bool goes_on_in_rows = are_short && rows_ < most_rows && (!is_long() || is_last);
    const bool is_noise = found.finding == Comparison::Finding::noise;
    alone_ = std::min(found.rondo, found.library);
    leans_to_rondo_ = is_noise && found.leans_to_rondo;
    calls_to_wait_ = rests() ? calls_to_rest : 0;
    if (goes_on_in_rows) begin_series(Series::in_row);
    else if (is_noise && key_.runs_ahead && !are_short && rows_ == 0 && !revalidates_ && !has_watched_) watch();
    else if (is_last || !is_noise) decide(found);
}

Comparison Trial::compare_calls() const {
    std::array<float, most_calls / 2> of_rondo{}, of_library{};
    std::size_t calls_of_rondo = 0, calls_of_library = 0;
    for (int call = 0; call < timed_ - timed_ % 2; ++call) {
        const float time = times_[static_cast<std::size_t>(call)];
        if (contender_in(call) == Contender::rondo) of_rondo[calls_of_rondo++] = time;
        else of_library[calls_of_library++] = time;
    }
    return compare(std::span(of_rondo).first(calls_of_rondo), std::span(of_library).first(calls_of_library));
}

float Trial::fastest(Contender contender) const {
    float least = std::numeric_limits<float>::max();
    for (int call = 0; call < timed_; ++call) {
        if (contender_in(call) == contender) least = std::min(least, times_[static_cast<std::size_t>(call)]);
    }
    return least;
}

/// More calls that may overlap cost more than they tell: if Rondo has not won for certain, the library has them.
void Trial::judge_row(const Comparison& found) {
    const bool is_noise = found.finding == Comparison::Finding::noise;
    const bool are_short = std::max(found.rondo, found.library) < short_call;
    const bool may_win = key_.rounding || found.leans_to_rondo;
    const bool is_enough = !are_short && (found.finding == Comparison::Finding::clear || !may_win);
    if (timed_ < most_calls && !is_enough) return;
    ++rows_;
    if (is_noise && rows_ < most_rows && (are_short || !overlaps_)) begin_series(Series::in_row, rows_);
    else if (is_noise && !overlaps_) begin_series(Series::alone, rows_);
    else decide(found);
}

bool Trial::note_pause(const Moment& began, const Moment& ended) {
    const bool is_first = (watches() ? watched_ : timed_) == 1, has_others = !is_first && !ended_.is_just_before(began);
    if (!is_first) pause_ = std::max(pause_, static_cast<float>(began.time - ended_.time));
    ended_ = ended;
    if (has_others) end_watch(false);
    return !has_others;
}

/// Calls come in a row, and may overlap, if no rank does anything between them for as long as one takes alone.
bool Trial::judge_pauses(float longest) {
    end_watch(longest < alone_);
    return is_in_row() && timed_ > 0;
}

/// The times of calls that ranks have waited for stay: a trial without a verdict goes on with them.
void Trial::watch() {
    series_ = Series::watched;
    watched_ = skipped_ = calls_to_wait_ = 0;
    pause_ = 0;
}

void Trial::end_watch(bool overlaps) {
    const bool is_row = is_in_row();
    has_watched_ = true;
    overlaps_ = overlaps;
    is_in_question_ = false;
    if (overlaps && is_row) return;
    if (overlaps) begin_series(Series::in_row);
    else if (is_row) begin_series(Series::alone);
    else if (!revalidates_) series_ = Series::alone;
    else if (is_early_ || key_.rounding) close();
    else begin_series(Series::alone);
}

void Trial::skip() {
    if (++skipped_ == most_skipped) abandon();
}

void Trial::forget_row() {
    const std::uint8_t skipped = skipped_;
    if (is_in_question_) end_watch(false);
    else begin_series(series_, rows_);
    starts_apart_ = true;
    skipped_ = skipped;
    skip();
}

void Trial::abandon() {
    if (!revalidates_) {
        winner_ = by_default();
        set_times(0, 0);
        overlaps_ = about_row_ = false;
    }
    over_ = true;
    revalidates_ = false;
    calls_left_ = most_calls_left;
}

void Trial::set_times(float rondo, float library) {
    rondo_ = rondo;
    library_ = library;
}

void Trial::begin_series(Series series, std::uint8_t rows) {
    if (series == Series::watched) return watch();
    series_ = series;
    rows_ = rows;
    timed_ = judged_ = skipped_ = calls_to_wait_ = 0;
    pause_ = 0;
    starts_apart_ = is_in_question_ = false;
    times_.fill(std::numeric_limits<float>::max());  // the times of calls whose end is not seen
}

/// Ends a series. If it has found nothing, the verdict from before stays.
void Trial::decide(const Comparison& found) {
    const Contender before = winner_;
    if (!revalidates_ || found.finding != Comparison::Finding::noise) settle_by(found);
    if (winner_ != before) doublings_ = 0;
    cost_ = cost_of_series(timed_ / 2, is_in_row());
    close();
}

/// Rondo has to win. If nobody can tell, it has the calls of this run where the order of all speaks for it. Of calls
/// that overlap, the order says nothing, unless all ranks have waited for each other before each row, as for sums.
void Trial::settle_by(const Comparison& found) {
    using Finding = Comparison::Finding;
    about_row_ = is_in_row() && overlaps_;
    finding_ = found.finding;
    if (finding_ == Finding::noise && about_row_ && !key_.rounding) {
        winner_ = Contender::library;
        set_times(0, 0);
        return;
    }
    if (finding_ == Finding::noise && !found.leans_to_rondo) finding_ = Finding::alike;
    if (finding_ == Finding::alike) {
        const float both = std::sqrt(found.rondo * found.library);
        winner_ = Contender::library;
        set_times(both, both);
    } else {
        winner_ = finding_ == Finding::noise ? Contender::rondo : found.faster;
        set_times(found.rondo, found.library);
    }
}

/// The cost of a series of so many calls of each, in calls of the faster contender: the slower one has half of them,
/// and ranks wait for each other.
float Trial::cost_of_series(int calls, bool in_row) const {
    const float slower = std::max(rondo_, library_), faster = std::min(rondo_, library_);
    const float ratio = faster > 0 ? slower / faster : 1;
    constexpr float together = 5;  // for a call of each that ranks wait for
    const float longer = overlaps_ && faster > 0 ? std::max(alone_ / faster, 1.0F) : 1;
    return static_cast<float>(calls) * ratio + together * longer * static_cast<float>(in_row ? 2 : calls);
}

/// Ends the trial. It revalidates after as many calls as make this cost little: twice as many each time.
void Trial::close() {
    over_ = true;
    revalidates_ = false;
    calls_to_wait_ = 0;
    std::span<const std::int32_t> early;
    if (wants_to_watch()) early = early_watches;
    else if (is_short() && !overlaps_) early = early_revalidations;
    if (wants_to_watch() && has_watched_ && early_ == 0) early_ = 1;
    is_early_ = early_ < early.size();
    if (is_early_) {
        calls_left_ = early[early_++];
        return;
    }
    const float cost = std::max(cost_, cost_of_series(rounds.front(), false));
    const float calls = calls_to_one * cost * static_cast<float>(1U << doublings_);
    const bool is_bounded = calls < static_cast<float>(most_calls_left);
    calls_left_ = is_bounded ? static_cast<std::int32_t>(calls) : most_calls_left;
    constexpr std::uint8_t most_doublings = 20;
    if (doublings_ < most_doublings) ++doublings_;
}

/// The contender of a call. The second in a round is first in the next, unless Rondo's result has to be left. Where
/// calls have any length, no period of theirs may give one contender all the short ones (Thue and Morse's sequence).
Contender Trial::contender_in(int call) const {
    const int turn = is_in_row() ? call / calls_in_row : call;
    if (key_.any_length)
        return std::popcount(static_cast<unsigned>(turn)) % 2 == 0 ? Contender::library : Contender::rondo;
    return (key_.rounding ? turn : turn + turn / 2) % 2 == 0 ? Contender::library : Contender::rondo;
}

}  // namespace rondo::guard
