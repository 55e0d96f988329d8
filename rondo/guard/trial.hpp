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
    std::uint8_t length = 0;  ///< class of the bytes
    bool commutative = false;
    /// The last bits of the result depend on who carries the call out. Both do, one after the other; Rondo's result
    /// counts, and goes on to count in this run, whatever the verdict is.
    bool rounding = false;

    friend bool operator==(const TrialKey&, const TrialKey&) = default;
};

/// A few calls, in turn by the one and the other, and after more calls once again, for programs change, and a busy
/// machine may mislead. Who carries out which call depends on the calls before it alone, and the verdict on times that
/// the ranks have agreed on (each that of the slowest rank): all ranks do the same.
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
    /// Those of short calls come early, after so many calls each: they cost some ten microseconds.
    static constexpr std::array<std::int32_t, 3> early_revalidations = {50, 200, 1000};
    /// A program may make few calls of so many bytes: the ranks agree on each, so that the next run can go on.
    static constexpr std::int64_t long_call = std::int64_t{1} << 16;
    using Times = std::array<float, most_calls>;

    /// What becomes of a call.
    enum class Course : std::uint8_t { compared, library, rondo };

    Trial() = default;
    /// About what `chosen` stands for: equal for equal choices of this process, and never looked into.
    Trial(TrialKey key, std::int64_t bytes, const void* chosen);

    /// So many calls come before the first one that is timed: another trial may be over meanwhile. They are the
    /// library's, unless bits depend on it.
    void wait_for(std::uint8_t calls) { calls_to_wait_ = calls; }
    /// Where nothing but the scheduler makes a call take milliseconds, it strikes several calls alike: its turns are
    /// all of a length. A few calls prove nothing then.
    void distrust_few_calls() { first_round_ = Comparison::few; }
    /// In an earlier run nobody could say who is faster: the library has all further calls, even where bits depend on
    /// it, so that nothing is slower and bits stay.
    void settle_uncompared();
    /// It was run earlier, and is over. `rondo` and `library`: what a call of each took.
    void settle(Contender winner, float rondo, float library);
    /// It was begun in an earlier run, which ended after calls that took so long. If these were enough, and nobody
    /// could tell who is faster, it begins anew.
    void resume(std::span<const float> times);

    [[nodiscard]] const TrialKey& key() const { return key_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const void* chosen() const { return chosen_; }
    [[nodiscard]] bool is_over() const { return over_; }
    /// Once it is over, or revalidates.
    [[nodiscard]] Contender winner() const { return winner_; }
    /// The library has all further calls, but those that are timed when it revalidates.
    [[nodiscard]] bool is_lost() const {
        return (over_ || revalidates_) && winner_ == Contender::library && takes_effect_;
    }
    /// It has a verdict, and compares once more.
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

    /// Of a call that has been counted.
    [[nodiscard]] Course course_of(std::int64_t bytes) const {
        if (compares_calls_of(bytes)) return Course::compared;
        return is_lost() ? Course::library : Course::rondo;
    }
    /// Calls of other lengths of the class are no part of it: lengths that alternate would decide.
    [[nodiscard]] bool compares_calls_of(std::int64_t bytes) const {
        return !over_ && std::abs(bytes - bytes_) <= bytes_ / 8;
    }
    /// Counts a call that comes after the verdict, if the shortest way has not done so. When it is time to revalidate,
    /// it is not over any more. That never happens where bits depend on it.
    void count_call();
    /// For the shortest way of calls after the verdict: takes one from it, and goes on if that leaves no less than
    /// none.
    [[nodiscard]] std::int32_t* counter() { return &calls_left_; }
    [[nodiscard]] std::int32_t calls_left() const { return calls_left_; }

    /// Who carries out the next call that is compared.
    [[nodiscard]] Contender next() const { return times_next() ? contender_in(timed_) : stand_in(); }
    [[nodiscard]] bool times_next() const { return calls_to_wait_ == 0; }
    /// Who carries out a call that is not timed.
    [[nodiscard]] Contender stand_in() const;
    /// Ranks come together before the next call. After it, if it is not so before each, before they judge.
    [[nodiscard]] bool needs_all_ranks() const { return !in_row_ || key_.rounding || timed_ == 0; }
    [[nodiscard]] bool is_in_row() const { return in_row_; }
    /// How often one contender carries out a call that both do, one after the other.
    [[nodiscard]] int repetitions() const { return in_row_ ? calls_in_row : 1; }
    /// Counts the next call that is compared. Before it: it may fail.
    void begin_call();
    /// What it took on this rank, if it is timed.
    void record(float time) { times_[static_cast<std::size_t>(timed_ - 1)] = time; }
    /// Of both contenders, so far.
    [[nodiscard]] int timed_calls() const { return timed_; }
    /// Who has carried out one of these.
    [[nodiscard]] Contender contender_in(int call) const;
    /// The time of each call that was timed, in their order. Ranks have agreed on those that they have judged; the
    /// others are those of this rank.
    [[nodiscard]] const Times& times() const { return times_; }

    /// Nobody has judged it when it was due, or only one contender has carried out a call that both should have.
    [[nodiscard]] bool is_stuck() const;
    /// The ranks have to agree on the times, before the next call.
    [[nodiscard]] bool is_due() const;
    /// The program may end before the ranks have to agree, and what they would agree on now is worth it.
    [[nodiscard]] bool is_worth_keeping() const;
    /// `slowest`: what each call took on the rank that took longest.
    void judge(const Times& slowest);
    /// The next call is not timed, because not all ranks can take part.
    void skip();
    /// Ranks have not come together after a row: what it took stays unknown, and there is another one.
    void forget_row();
    /// It ends without a verdict, or with that from before. The library has all further calls, but where bits depend on
    /// it.
    void abandon();

    friend bool operator==(const Trial&, const Trial&) = default;

  private:
    static constexpr std::int32_t most_calls_left = std::int32_t{1} << 30;

    [[nodiscard]] Comparison compare_calls() const;
    [[nodiscard]] float fastest(Contender contender) const;
    [[nodiscard]] bool is_long() const { return bytes_ >= long_call; }
    /// Both were short when they were compared.
    [[nodiscard]] bool is_short() const { return std::max(rondo_, library_) < short_call; }
    [[nodiscard]] float cost_of_series(int calls) const;
    void set_times(float rondo, float library);
    void begin_series(bool in_row, std::uint8_t rows = 0);
    void judge_row(const Comparison& found);
    void decide(const Comparison& found);
    void close();

    TrialKey key_;
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

}  // namespace rondo::guard
