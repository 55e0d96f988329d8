// SPDX-License-Identifier: BSD-3-Clause
// Who carries out calls of a kind on a communicator, Rondo or the MPI library: found out while the program runs.
// Without <mpi.h>.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "rondo/guard/comparison.hpp"

namespace rondo::guard {

/// Calls whose times are comparable. Equal on all ranks.
struct TrialKey {
    std::uint8_t collective = 0;
    std::uint8_t length = 0;  ///< class of the call's bytes
    bool commutative = false;
    /// True if the last bits of the result depend on who carries the call out. Both do, one after the other; Rondo's
    /// result counts, and goes on to count in this run, whatever the verdict is.
    bool rounding = false;
    /// Ranks may leave a call before others have come to it, as of a broadcast or a scan: calls in a row may overlap.
    bool runs_ahead = false;
    /// They may because some rank has no part; in other calls of this collective all wait for all.
    bool empty_parts = false;
    /// No rank knows how long the calls are: those of another run may be much longer.
    bool any_length = false;

    friend bool operator==(const TrialKey&, const TrialKey&) = default;
};

/// When a call begins or ends on a rank.
struct Moment {
    std::uint64_t communicator = 0;  ///< the number of the call's, which this process has given to no other
    std::uint32_t calls = 0;         ///< that Rondo has carried out there so far
    std::uint64_t time = 0;          ///< in nanoseconds, since some moment

    /// True if Rondo has carried out no other call there in between. All ranks know that.
    [[nodiscard]] bool is_just_before(const Moment& later) const {
        return communicator == later.communicator && calls == later.calls;
    }
    /// Numbers of communicators and times are those of one rank.
    friend bool operator==(const Moment&, const Moment&) { return true; }
};

/// A trial compares a few calls, in turn by the two contenders, and again after more calls, for programs change, and a
/// busy machine may mislead. Who carries out which call depends on the calls before it alone, and the verdict on times
/// that the ranks have agreed on (each that of the slowest rank): all ranks do the same.
///
/// First, ranks wait for each other before each call, so that a late one decides nothing. That costs more than a call.
/// So, if a few calls do not tell, the trial rests between further pairs of them, and whoever seems to be faster has
/// the calls meanwhile. Calls that turn out to be short are compared in batches: several by one contender, several by
/// the other, as they come. The first calls of either are cold, and a machine needs many calls of a microsecond to be
/// sure.
///
/// Rondo has to win. Where there is no difference, the library has the calls, as without Rondo.
///
/// Calls that may overlap take another time in a row than alone: a chain of ranks is the slowest way for one call, and
/// the fastest for many. So the trial begins with batches of such calls, unless they are long and a program may make
/// few of them. If no call of another kind was among them, and the program did nothing for long between them, what
/// batches show holds. Else the trial begins anew, as with other calls. If Rondo wins then, it watches some more as
/// they come. Of long calls it also does so if the first ones tell nothing.
class Trial {
  public:
    static constexpr int most_calls = 32;   ///< timed calls before the ranks agree
    static constexpr int calls_in_row = 8;  ///< calls of a batch, by one contender
    /// Timed calls of the first batch of either, which may be enough to see what overlaps.
    static constexpr int first_batches = 2 * calls_in_row;
    static constexpr std::size_t most_values = 1 + most_calls;  ///< that ranks agree on at once: a pause, and times
    static constexpr int most_rows = 2;                         ///< batches of `most_calls` each
    static constexpr int most_skipped = 3;                      ///< calls that some rank cannot carry out twice
    /// How many calls of each are compared, in one step after the other, until that is enough.
    static constexpr std::array<int, 6> rounds = {2, 3, 4, Comparison::few, 8, most_calls / 2};
    static constexpr int last_rounds = 8;  ///< calls of each that ranks wait for again after batches
    /// Calls that are not timed, between one of each and the next of each, once the first ones have told nothing.
    static constexpr std::uint8_t calls_to_rest = 64;
    /// Calls of both contenders are short if they take less, in nanoseconds.
    static constexpr float short_call = 1e5F;
    /// Revalidation may cost one part in so many of the calls before it.
    static constexpr float calls_to_one = 100;
    /// Short calls are also revalidated early, after so many calls each: that costs some ten microseconds.
    static constexpr std::array<std::int32_t, 3> early_revalidations = {50, 200, 1000};
    /// Calls that may overlap are watched after so many calls each: that costs a few short collectives. Not after the
    /// first number if this run has watched some before.
    static constexpr std::array<std::int32_t, 4> early_watches = {4, 50, 200, 1000};
    /// A program may make few calls of so many bytes: the ranks agree after each, so that the next run can go on.
    static constexpr std::int64_t long_call = std::int64_t{1} << 16;
    using Times = std::array<float, most_calls>;
    static constexpr int watched_calls = 4;

    /// What becomes of a call.
    enum class Course : std::uint8_t { compared, library, rondo };

    Trial() = default;
    /// A trial about `chosen`, which stands for a choice: equal for equal choices of this process, and never looked
    /// into.
    Trial(TrialKey key, std::int64_t bytes, const void* chosen);

    /// Leaves so many calls untimed before the first one that is timed: another trial may be over meanwhile. They are
    /// the library's, unless bits depend on it.
    void wait_for(std::uint8_t calls) { calls_to_wait_ = calls; }
    /// Begins with more than a few calls. Where nothing but the scheduler makes a call take milliseconds, it strikes
    /// several calls alike, since its turns are all of one length: a few calls prove nothing then. And does not rest:
    /// to wait for each other costs next to nothing there.
    /// Nor does it begin with batches: most calls are short there, and come in some anyway.
    void stay_on_one_node() {
        first_round_ = Comparison::few;
        may_rest_ = false;
        if (notes_pauses()) begin_series(Series::alone);
    }
    /// Ends the trial as one that could not be compared in an earlier run: the library has all further calls, even
    /// where bits depend on it, so that nothing is slower and bits stay.
    /// `alone`: as for settle.
    void settle_uncompared(float alone = 0);
    /// Ends the trial as one that was over in an earlier run. `rondo` and `library`: what a call of each took.
    /// `alone`: not 0 if they were timed in a row and may have overlapped; what one took alone.
    void settle(Contender winner, float rondo, float library, float alone = 0);
    /// Goes on with a trial that an earlier run began, whose calls took so long. If these were enough, and the noise
    /// was too large to tell who is faster, it begins anew.
    void resume(std::span<const float> times);

    [[nodiscard]] const TrialKey& key() const { return key_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const void* chosen() const { return chosen_; }
    [[nodiscard]] bool is_over() const { return over_; }
    /// The faster contender, once the trial is over, or revalidates.
    [[nodiscard]] Contender winner() const { return winner_; }
    /// True if the library has all further calls, but those that are timed when the trial revalidates.
    [[nodiscard]] bool is_lost() const {
        return (over_ || revalidates_) && winner_ == Contender::library && takes_effect_;
    }
    /// True if the trial has a verdict, and compares once more.
    [[nodiscard]] bool revalidates() const { return revalidates_; }
    /// True if the trial is over, and the next run need not try to compare: ranks have not come together, or calls that
    /// overlap have shown nothing in rows either, which takes as long as hundreds of them.
    [[nodiscard]] bool is_uncompared() const { return over_ && rondo_ == 0 && library_ == 0; }
    /// True if the trial is over, and the machine was too busy to tell. The next run need not know.
    [[nodiscard]] bool is_undecided() const {
        return over_ && !is_uncompared() && finding_ == Comparison::Finding::noise;
    }
    /// The time of an undisturbed call, once the ranks have judged. Both contenders have the same if there is no
    /// difference.
    [[nodiscard]] float time_of(Contender contender) const { return contender == Contender::rondo ? rondo_ : library_; }

    /// What becomes of a call that count_call has counted.
    [[nodiscard]] Course course_of(std::int64_t bytes) const {
        if (compares_calls_of(bytes)) return Course::compared;
        return is_lost() ? Course::library : Course::rondo;
    }
    /// True if the trial times calls of so many bytes. Other lengths of the class are left out: if they alternated,
    /// they would decide.
    [[nodiscard]] bool compares_calls_of(std::int64_t bytes) const {
        return !over_ && std::abs(bytes - bytes_) <= bytes_ / 8;
    }
    /// Counts a call that comes after the verdict, if the fast path has not done so. When it is time to revalidate, the
    /// trial is not over any more. Where bits depend on it, that happens only in the run that has found the verdict,
    /// which takes effect in the next one.
    void count_call();
    /// The counter for the fast path of calls after the verdict, which takes one from it, and goes on if the rest is
    /// not negative.
    [[nodiscard]] std::int32_t* counter() { return &calls_left_; }
    [[nodiscard]] std::int32_t calls_left() const { return calls_left_; }

    /// The contender that carries out the next call that is compared.
    [[nodiscard]] Contender next() const { return times_next() && !watches() ? contender_in(timed_) : stand_in(); }
    [[nodiscard]] bool times_next() const { return calls_to_wait_ == 0; }
    /// The contender that carries out a call that is not timed: the winner, if there was one; else who seems to be
    /// faster, the library for as long as nothing is known. Where bits depend on it, Rondo.
    [[nodiscard]] Contender stand_in() const;
    /// True if ranks have to wait for each other before the next call. In a batch they wait at most before the first
    /// one, and always before they judge.
    [[nodiscard]] bool needs_all_ranks() const {
        return series_ == Series::alone || (is_in_row() && (key_.rounding || starts_apart_));
    }
    /// True if ranks need not be together when they have made the last call of a series.
    [[nodiscard]] bool leaves_ranks_apart() const { return watches() || (is_in_row() && !key_.rounding); }
    [[nodiscard]] bool is_in_row() const { return series_ == Series::in_row; }
    /// True if the stand-in carries the next calls out, as they come.
    [[nodiscard]] bool watches() const { return series_ == Series::watched; }
    /// True if nobody knows yet whether the calls of this series come in a row.
    [[nodiscard]] bool notes_pauses() const { return watches() || is_in_question_; }
    /// True if both contenders carry out each call that is compared, one after the other.
    [[nodiscard]] bool compares_twice() const { return key_.rounding && !watches(); }
    /// If the verdict is about rows of calls that may overlap, about the nanoseconds of a call alone; else 0.
    [[nodiscard]] float alone() const { return about_row_ ? alone_ : 0; }
    /// How often one contender carries out a call that both do, one after the other.
    [[nodiscard]] int repetitions() const { return is_in_row() ? calls_in_row : 1; }
    /// Counts the next call that is compared, before it is made: it may fail.
    void begin_call();
    /// Records what a timed call took on this rank.
    void record(float time) { times_[static_cast<std::size_t>(timed_ - 1)] = time; }
    /// Notes when a call began and ended on this rank. False if Rondo has carried out other calls since the one before,
    /// which all ranks know: then they do not come in a row.
    bool note_pause(const Moment& began, const Moment& ended);
    /// The longest time that this rank has done other things between calls of this series.
    [[nodiscard]] float pause() const { return pause_; }
    /// True if somebody knows about what a call takes alone.
    [[nodiscard]] bool knows_alone() const { return alone_ > 0; }
    /// Says what coming together takes a rank that the others have waited for: every word goes there and back. So a
    /// call takes about half as long.
    void know_together(float together) { alone_ = together / 2; }
    /// Finds out whether calls come in a row, by the longest pause of all ranks. True if the times of these calls
    /// count.
    bool judge_pauses(float longest);
    /// How many calls were timed so far, of both contenders.
    [[nodiscard]] int timed_calls() const { return timed_; }
    /// The contender of a timed call.
    [[nodiscard]] Contender contender_in(int call) const;
    /// The time of each timed call, in their order. Ranks have agreed on those that they have judged; the others are
    /// those of this rank.
    [[nodiscard]] const Times& times() const { return times_; }

    /// True if the ranks have not judged when it was due, or only one contender has carried out a call that both should
    /// have.
    [[nodiscard]] bool is_stuck() const;
    /// True if the ranks have to agree on the times before the next call.
    [[nodiscard]] bool is_due() const;
    /// True if the next run can go on with the calls that ranks have agreed on.
    [[nodiscard]] bool may_go_on_later() const;
    /// True if it is worth while to agree on the times now, as the program may end before the ranks have to.
    [[nodiscard]] bool is_worth_keeping() const;
    /// Judges by `slowest`: what each call took on the rank that took longest.
    void judge(const Times& slowest);
    /// Leaves the next call untimed, because not all ranks can take part.
    void skip();
    /// Forgets a batch, or watched calls, after which ranks have not come together: there are as many again.
    void forget_row();
    /// Ends the trial without a verdict, or with an earlier one. Then the library has all further calls, but where bits
    /// depend on it.
    void abandon();

    friend bool operator==(const Trial&, const Trial&) = default;

  private:
    static constexpr std::int32_t most_calls_left = std::int32_t{1} << 30;

    /// How calls of a series come: ranks wait for each other before each of them, or not.
    enum class Series : std::uint8_t { alone, in_row, watched };

    /// Compares as many calls of one contender as of the other: a last one that has no counterpart is left out.
    [[nodiscard]] Comparison compare_calls() const;
    /// The contender that has the calls for as long as nothing is known of them.
    [[nodiscard]] Contender by_default() const { return key_.rounding ? Contender::rondo : Contender::library; }
    /// True if the trial rests after the call that it has just counted: not where Rondo has the calls for their bits,
    /// though the library seems to be faster.
    /// A trial that revalidates never does.
    [[nodiscard]] bool rests() const {
        const bool goes_on_alone = series_ == Series::alone && rows_ == 0 && !revalidates_;
        const bool of_both = timed_ >= 2 * first_round_ && timed_ % 2 == 0;
        return may_rest_ && goes_on_alone && of_both && (leans_to_rondo_ || !key_.rounding);
    }
    [[nodiscard]] float fastest(Contender contender) const;
    [[nodiscard]] bool is_long() const { return bytes_ >= long_call; }
    /// True if calls of both were short when they were compared.
    [[nodiscard]] bool is_short() const { return std::max(rondo_, library_) < short_call; }
    [[nodiscard]] float cost_of_series(int calls, bool in_row) const;
    void set_times(float rondo, float library);
    void begin_series(Series series, std::uint8_t rows = 0);
    void judge_row(const Comparison& found);
    void watch();
    void end_watch(bool overlaps);
    /// True if calls may overlap, and nobody knows yet whether they do.
    [[nodiscard]] bool wants_to_watch() const {
        return key_.runs_ahead && winner_ == Contender::rondo && !is_short() && !overlaps_;
    }
    /// True if another verdict would change bits in this run or against an earlier one.
    [[nodiscard]] bool keeps_bits() const { return key_.rounding && takes_effect_; }
    void decide(const Comparison& found);
    void settle_by(const Comparison& found);
    void close();

    TrialKey key_;
    std::int64_t bytes_ = 0;
    const void* chosen_ = nullptr;
    std::uint8_t calls_to_wait_ = 0;
    std::uint8_t timed_ = 0;   // timed calls of this series so far
    std::uint8_t judged_ = 0;  // judged ones of the timed calls
    std::uint8_t skipped_ = 0;
    std::uint8_t first_round_ = rounds.front();
    std::uint8_t rows_ = 0;       // batches that have shown nothing
    std::uint8_t early_ = 0;      // early revalidations or watches so far
    std::uint8_t doublings_ = 0;  // how often the calls before the next revalidation were doubled
    Series series_ = Series::alone;
    bool is_early_ = false;  // the next revalidation
    bool may_rest_ = true;
    bool leans_to_rondo_ = false;  // in doubt
    bool has_watched_ = false;     // some calls, whatever that has shown
    bool overlaps_ = false;        // calls come in a row, and may overlap
    bool about_row_ = false;       // the verdict is about such rows
    bool over_ = false;
    bool revalidates_ = false;
    bool takes_effect_ = true;
    bool starts_apart_ = false;    // the batch: ranks have done other things since they were together
    bool is_in_question_ = false;  // whether the calls of this batch come in a row
    Comparison::Finding finding_ = Comparison::Finding::noise;
    std::int32_t calls_left_ = 0;
    Contender winner_ = Contender::rondo;
    float rondo_ = 0, library_ = 0;
    float alone_ = 0;  // what a call of the faster one took when ranks waited for each other, or about that
    float cost_ = 0;   // cost of the last series
    std::uint8_t watched_ = 0;
    float pause_ = 0;
    Moment ended_;  // the last call for whose pauses the trial looks
    Times times_{};
};

}  // namespace rondo::guard
