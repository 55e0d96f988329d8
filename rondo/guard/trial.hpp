// SPDX-License-Identifier: BSD-3-Clause
// Who carries out calls of a kind on a communicator, Rondo or the MPI library: found out while the program runs.
// Without <mpi.h>.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

#include "rondo/guard/comparison.hpp"

namespace rondo::guard {

/// Calls whose times are comparable. Equal on all ranks.
struct TrialKey {
    std::uint8_t collective = 0;
    std::uint8_t length = 0;  ///< class of the bytes
    bool commutative = false;
    /// The last bits of the result depend on who carries the call out. Both do, one after the other; Rondo's result
    /// counts, and goes on to count in this run, whatever the verdict is.
    bool rounding = false;

    friend bool operator==(const TrialKey&, const TrialKey&) = default;
};

/// A few calls, in turn by the one and the other, and after more calls once again, for programs change, and a busy
/// machine may mislead. Who runs which call depends on the calls before it alone, and the verdict on times that the
/// ranks have agreed on (each that of the slowest rank): all ranks do the same.
///
/// First, ranks come together before each call, so that who comes late to it decides nothing. Calls that turn out to be
/// short are compared in rows: several by the one, several by the other, as they come. The first calls of either are
/// cold, and a machine needs many calls of a microsecond to be sure.
class Trial {
  public:
    static constexpr int most_calls = 32;   ///< that are timed before the ranks agree
    static constexpr int calls_in_row = 8;  ///< by one contender
    static constexpr int most_rows = 2;     ///< each of `most_calls`
    static constexpr int most_skipped = 3;  ///< that some rank cannot carry out twice
    /// So many calls of each are compared, one after the other, until that is enough.
    static constexpr std::array<int, 6> rounds = {2, 3, 4, Comparison::few, 8, most_calls / 2};
    static constexpr int last_rounds = 8;  ///< of calls for which ranks come together once more after rows
    /// Both contenders are short if their calls take less, in nanoseconds.
    static constexpr float short_call = 1e5F;
    /// What a revalidation costs is so small a share of the calls before it.
    static constexpr float calls_to_one = 100;
    /// Looks at short calls come early, after so many calls each: they cost some ten microseconds.
    static constexpr std::array<std::int32_t, 3> early_revalidations = {50, 200, 1000};
    /// A program may make few calls of so many bytes: the ranks agree on each, so that the next run can go on.
    static constexpr std::int64_t long_call = std::int64_t{1} << 16;
    using Times = std::array<float, most_calls>;

    Trial() = default;
    /// About what `chosen` stands for: equal for equal choices of this process, and never looked into.
    Trial(TrialKey kind, std::int64_t bytes, const void* chosen)
        : kind_(kind), bytes_(bytes), chosen_(chosen), takes_effect_(!kind.rounding) {
        begin_series(false);
    }

    /// So many calls come before the first one that is timed: another trial may be over meanwhile. They are the
    /// library's, unless bits depend on it.
    void wait_for(std::uint8_t calls) { calls_to_wait_ = calls; }

    /// Where nothing but the scheduler makes a call take milliseconds, it strikes several calls alike: its turns are
    /// all of a length. A few calls prove nothing then.
    void distrust_few_calls() { first_round_ = Comparison::few; }

    /// In an earlier run nobody could say who is faster: the library has all further calls, even where bits depend on
    /// it, so that nothing is slower and bits stay.
    void settle_uncompared() {
        abandon();
        winner_ = Contender::library;
        takes_effect_ = true;
    }

    /// It was run earlier, and is over. `rondo` and `library`: what a call of each took.
    void settle(Contender winner, float rondo, float library) {
        winner_ = winner;
        set_times(rondo, library);
        finding_ = Comparison::Finding::clear;
        takes_effect_ = true;
        close();
    }

    /// It was begun in an earlier run, which ended after calls that took so long. If these were enough, and nobody
    /// could tell who is faster, it begins anew.
    void resume(std::span<const float> times) {
        std::size_t known = times.size() < most_calls ? times.size() : 0;
        if (kind_.rounding) known -= known % 2;
        std::copy_n(times.begin(), known, times_.begin());
        timed_ = judged_ = static_cast<std::uint8_t>(known);
    }

    [[nodiscard]] const TrialKey& kind() const { return kind_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const void* chosen() const { return chosen_; }
    /// Calls of other lengths of the class are no part of it: lengths that alternate would decide.
    [[nodiscard]] bool times_calls_of(std::int64_t bytes) const {
        return !over_ && std::abs(bytes - bytes_) <= bytes_ / 8;
    }
    [[nodiscard]] bool is_over() const { return over_; }
    /// Once it is over, or comes again.
    [[nodiscard]] Contender winner() const { return winner_; }
    /// The library has all further calls, but those that are timed when it comes again.
    [[nodiscard]] bool is_lost() const {
        return (over_ || revalidates_) && winner_ == Contender::library && takes_effect_;
    }
    /// Counts a call after the verdict, of which the shortest way has not counted one that goes no further. True if it
    /// is time to revalidate: then it is not over any more. Never where bits depend on it.
    bool revalidate() {
        if (calls_left_ >= 0) --calls_left_;
        if (calls_left_ >= 0) return false;
        if (kind_.rounding) {
            calls_left_ = most_calls_left;
            return false;
        }
        over_ = false;
        revalidates_ = true;
        begin_series(is_short());
        return true;
    }
    /// For the shortest way of calls after the verdict: takes one from it, and goes on if that leaves no less than
    /// none.
    [[nodiscard]] std::int32_t& calls_left() { return calls_left_; }
    /// It has a verdict, which is revalidated.
    [[nodiscard]] bool revalidates() const { return revalidates_; }
    /// It is over, and ranks have not come together to compare.
    [[nodiscard]] bool is_uncompared() const { return over_ && rondo_ == 0 && library_ == 0; }
    /// It is over, and the machine was too busy to tell. Nothing for the next run to know.
    [[nodiscard]] bool is_undecided() const {
        return over_ && !is_uncompared() && finding_ == Comparison::Finding::noise;
    }
    /// The time of an undisturbed call, once the ranks have judged. Both contenders have the same if there is no
    /// difference.
    [[nodiscard]] float time_of(Contender contender) const { return contender == Contender::rondo ? rondo_ : library_; }

    /// Who carries out the next call.
    [[nodiscard]] Contender next() const { return times_next() ? contender_in(timed_) : stand_in(); }
    [[nodiscard]] bool times_next() const { return calls_to_wait_ == 0; }
    /// Ranks come together before the next call. After it, if it is not so before each, before they judge.
    [[nodiscard]] bool needs_all_ranks() const { return !in_row_ || kind_.rounding || timed_ == 0; }
    [[nodiscard]] bool is_in_row() const { return in_row_; }
    /// How often one contender carries out a call that both do, one after the other.
    [[nodiscard]] int repetitions() const { return in_row_ ? calls_in_row : 1; }
    /// Nobody has judged it when it was due, or only one contender has carried out a call that both should have.
    [[nodiscard]] bool is_stuck() const {
        return is_due() || (!over_ && kind_.rounding && timed_ % (2 * repetitions()) != 0);
    }
    /// It ends without a verdict, or with that from before. The library has all further calls, but where bits depend on
    /// it.
    void abandon() {
        winner_ = stand_in();
        if (!revalidates_) set_times(0, 0);
        over_ = true;
        revalidates_ = false;
        calls_left_ = most_calls_left;
    }
    /// Who carries out a call that is not timed.
    [[nodiscard]] Contender stand_in() const {
        if (revalidates_) return winner_;
        return kind_.rounding ? Contender::rondo : Contender::library;
    }
    /// The next call is not timed, because not all ranks can take part.
    void skip() {
        if (++skipped_ == most_skipped) abandon();
    }
    /// Ranks have not come together after a row: what it took stays unknown, and there is another one.
    void forget_row() {
        begin_series(true, rows_);
        skip();
    }
    /// Counts the next call. Before it: it may fail.
    void begin() {
        if (times_next()) ++timed_;
        else --calls_to_wait_;
    }
    /// Of both contenders, so far.
    [[nodiscard]] int timed_calls() const { return timed_; }
    /// What it took on this rank, if it is timed.
    void end(float time) { times_[static_cast<std::size_t>(timed_ - 1)] = time; }

    /// The ranks have to agree on the times, before the next call.
    [[nodiscard]] bool is_due() const {
        if (over_ || judged_ == timed_) return false;
        if (in_row_) return timed_ == most_calls;
        if (rows_ == most_rows) return timed_ == 2 * last_rounds;
        return std::ranges::any_of(rounds, [this](int calls) { return calls >= first_round_ && timed_ == 2 * calls; });
    }
    /// The program may end before the ranks have to agree, and what they would agree on now is worth it.
    [[nodiscard]] bool is_worth_keeping() const {
        return is_long() && !in_row_ && rows_ == 0 && !revalidates_ && (!kind_.rounding || timed_ % 2 == 0);
    }
    /// The time of each call that was timed, in their order. Ranks have agreed on those that they have judged; the
    /// others are those of this rank.
    [[nodiscard]] const Times& times() const { return times_; }
    /// `slowest`: what each call took on the rank that took longest.
    void judge(const Times& slowest) {
        std::array<float, most_calls / 2> of_rondo{}, of_library{};
        std::size_t calls_of_rondo = 0, calls_of_library = 0;
        for (int call = 0; call < timed_; ++call) {
            const float time = slowest[static_cast<std::size_t>(call)];
            if (contender_in(call) == Contender::rondo) of_rondo[calls_of_rondo++] = time;
            else of_library[calls_of_library++] = time;
        }
        times_ = slowest;
        const bool is_due = this->is_due();
        judged_ = timed_;
        if (!is_due) return;
        const Comparison found =
            compare(std::span(of_rondo).first(calls_of_rondo), std::span(of_library).first(calls_of_library));
        const bool are_short = std::max(of_rondo[0], of_library[0]) < short_call;
        if (in_row_) {
            ++rows_;
            if (found.finding != Comparison::Finding::noise) decide(found);
            else begin_series(rows_ < most_rows, rows_);
            return;
        }
        const bool is_last = timed_ == 2 * (rows_ == most_rows ? last_rounds : rounds.back());
        const bool goes_on_in_rows = are_short && rows_ < most_rows && (!is_long() || is_last);
        if (goes_on_in_rows) begin_series(true);
        else if (is_last || found.finding != Comparison::Finding::noise) decide(found);
    }

  private:
    void set_times(float rondo, float library) {
        rondo_ = rondo;
        library_ = library;
    }
    [[nodiscard]] bool is_long() const { return bytes_ >= long_call; }
    /// Both were short when they were compared.
    [[nodiscard]] bool is_short() const { return std::max(rondo_, library_) < short_call; }
    static constexpr std::int32_t most_calls_left = std::int32_t{1} << 30;

    void begin_series(bool in_row, std::uint8_t rows = 0) {
        in_row_ = in_row;
        rows_ = rows;
        timed_ = judged_ = skipped_ = 0;
        times_.fill(std::numeric_limits<float>::max());  // of calls that nobody has seen the end of
    }
    /// Ends a series. If it has found nothing, the verdict from before stays.
    void decide(const Comparison& found) {
        const Contender before = winner_;
        const bool is_alike = found.finding == Comparison::Finding::alike;
        const bool is_noise = found.finding == Comparison::Finding::noise;
        if (!revalidates_ || !is_noise) {
            finding_ = found.finding;
            // Without a difference, what the rules say stays; where nobody can tell, what would be without Rondo.
            winner_ = is_noise ? stand_in() : is_alike ? Contender::rondo : found.faster;
            const float both = std::sqrt(found.rondo * found.library);
            set_times(is_alike ? both : found.rondo, is_alike ? both : found.library);
        }
        if (winner_ != before) doublings_ = 0;
        cost_ = cost_of_series(timed_ / 2);
        close();
    }
    /// The cost of a series of so many calls of each, in calls of the faster contender: the slower one has half of
    /// them, and ranks come together.
    [[nodiscard]] float cost_of_series(int calls) const {
        const float slower = std::max(rondo_, library_), faster = std::min(rondo_, library_);
        const float ratio = faster > 0 ? slower / faster : 1;
        constexpr float together = 5;  // for a call of each
        return static_cast<float>(calls) * ratio + together * static_cast<float>(in_row_ ? 2 : calls);
    }
    /// It is over, and comes again when as many calls have been made that this costs little: twice as many each time.
    void close() {
        over_ = true;
        revalidates_ = false;
        if (is_short() && early_ < early_revalidations.size()) {
            calls_left_ = early_revalidations[early_++];
            return;
        }
        const float cost = std::max(cost_, cost_of_series(rounds.front()));
        const float calls = calls_to_one * cost * static_cast<float>(1U << doublings_);
        const bool is_bounded = calls < static_cast<float>(most_calls_left);
        calls_left_ = is_bounded ? static_cast<std::int32_t>(calls) : most_calls_left;
        constexpr std::uint8_t most_doublings = 20;
        if (doublings_ < most_doublings) ++doublings_;
    }
    /// Who is second in a round is first in the next, but where it is Rondo's result that shall be left.
    [[nodiscard]] Contender contender_in(int call) const {
        const int turn = in_row_ ? call / calls_in_row : call;
        return (kind_.rounding ? turn : turn + turn / 2) % 2 == 0 ? Contender::library : Contender::rondo;
    }

    TrialKey kind_;
    std::int64_t bytes_ = 0;
    const void* chosen_ = nullptr;
    std::uint8_t calls_to_wait_ = 0;
    std::uint8_t timed_ = 0;   // calls, so far
    std::uint8_t judged_ = 0;  // of these
    std::uint8_t skipped_ = 0;
    std::uint8_t first_round_ = rounds.front();
    std::uint8_t rows_ = 0;       // that have shown nothing
    std::uint8_t early_ = 0;      // revalidations
    std::uint8_t doublings_ = 0;  // of the calls before the next one
    bool in_row_ = false;
    bool over_ = false;
    bool revalidates_ = false;
    bool takes_effect_ = true;
    Comparison::Finding finding_ = Comparison::Finding::noise;
    std::int32_t calls_left_ = 0;
    Contender winner_ = Contender::rondo;
    float rondo_ = 0, library_ = 0;
    float cost_ = 0;  // of the last series
    Times times_{};
};

/// Those of a communicator, or of several. Without memory of their own: a rank that had none would leave the others
/// alone.
class Trials {
  public:
    explicit Trials(std::span<Trial> places) : places_(places) {}

    /// The trial about such calls and this choice; nullptr if there is none.
    Trial* find(const TrialKey& kind, const void* chosen) {
        for (Trial& trial : places_.first(used_)) {
            if (trial.kind() == kind && trial.chosen() == chosen) return &trial;
        }
        return nullptr;
    }
    /// Where there is none about such calls; nullptr if there are too many.
    Trial* add(const Trial& trial) {
        if (used_ == places_.size()) return nullptr;
        places_[used_] = trial;
        return &places_[used_++];
    }

    /// Ranks have not come together for a call that was to be timed. After a few times nobody waits for any such call
    /// any more: each costs a program that relies on it what no later gain may pay for.
    void count_timeout() { ++timeouts_; }
    [[nodiscard]] bool may_wait() const { return timeouts_ < most_timeouts; }
    static constexpr int most_timeouts = 3;

  private:
    std::span<Trial> places_;
    std::size_t used_ = 0;
    int timeouts_ = 0;
};

}  // namespace rondo::guard
