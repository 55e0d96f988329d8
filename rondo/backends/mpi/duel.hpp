// SPDX-License-Identifier: BSD-3-Clause
// Who carries out calls of a kind on a communicator, Rondo or the MPI library: found out while the program runs.
// Without <mpi.h>.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

namespace rondo::mpi {

/// Calls whose times are comparable. Equal on all ranks.
struct DuelKind {
    std::uint8_t collective = 0;
    std::uint8_t length = 0;  ///< class of the bytes
    bool commutative = false;
    /// The last bits of the result depend on who carries the call out. Both do, one after the other; Rondo's result
    /// counts, and goes on to count in this run, whatever the verdict is.
    bool rounding = false;

    friend bool operator==(const DuelKind&, const DuelKind&) = default;
};

enum class Rival : std::uint8_t { rondo, library };

/// A few calls, in turn by the one and the other, and after many more once again, for programs change, and a busy
/// machine may mislead. All ranks begin to time a call together, so who comes late to it
/// decides nothing. What counts is the slowest rank of each call, and the fastest call of each rival: whatever disturbs
/// a call makes it longer. Who runs which call depends on the calls before it alone, and the verdict on times that the
/// ranks have agreed on: all ranks do the same.
class Duel {
  public:
    static constexpr int most_rounds = 4;   ///< in each, a call of both
    static constexpr int early_rounds = 2;  ///< after which it is over if it is clear
    /// It is clear when all calls of the one took so much less than all of the other.
    static constexpr float clearly_faster = 1.1F;
    static constexpr int most_calls = 2 * most_rounds;  ///< that are timed
    static constexpr int most_skipped = 3;              ///< that some rank cannot carry out twice
    /// What another look costs is so small a share of the calls before it.
    static constexpr float calls_to_one = 100;
    /// A program may make few calls of so many bytes: the ranks agree on each, so that the next run can go on.
    static constexpr std::int64_t long_call = std::int64_t{1} << 16;
    using Times = std::array<float, most_calls>;

    Duel() = default;
    /// About what `chosen` stands for: equal for equal choices of this process, and never looked into.
    Duel(DuelKind kind, std::int64_t bytes, const void* chosen)
        : kind_(kind), bytes_(bytes), chosen_(chosen), takes_effect_(!kind.rounding) {
        times_.fill(std::numeric_limits<float>::max());  // of calls that nobody has seen the end of
    }

    /// So many calls come before the first one that is timed: another duel may be over meanwhile. They are the
    /// library's, unless bits depend on it.
    void wait_for(std::uint8_t calls) { calls_to_wait_ = calls; }

    /// In an earlier run nobody could say who is faster: the library has all further calls, even where bits depend on
    /// it, so that nothing is slower and bits stay.
    void settle_uncompared() {
        abandon();
        winner_ = Rival::library;
        takes_effect_ = true;
    }

    /// It was fought in an earlier run, and is over. `rondo` and `library`: what the fastest call of each took.
    void settle(Rival winner, float rondo, float library) {
        winner_ = winner;
        rondo_ = rondo;
        library_ = library;
        takes_effect_ = true;
        close();
    }

    /// It was begun in an earlier run, which ended after so many timed calls. `rondo` and `library`: what the fastest
    /// of each took. What their other calls took, nobody knows: so they prove nothing.
    void resume(int timed, float rondo, float library) {
        timed = std::clamp(timed, 0, most_calls - 1);
        timed_ = static_cast<std::uint8_t>(kind_.rounding ? timed - timed % 2 : timed);
        for (int call = 0; call < std::min<int>(timed_, 2); ++call) {  // the first of each
            const float time = rival_in(call) == Rival::rondo ? rondo : library;
            if (time > 0) times_[static_cast<std::size_t>(call)] = time;
        }
    }

    [[nodiscard]] const DuelKind& kind() const { return kind_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const void* chosen() const { return chosen_; }
    /// Calls of other lengths of the class are no part of it: lengths that alternate would decide.
    [[nodiscard]] bool times_calls_of(std::int64_t bytes) const {
        return !over_ && std::abs(bytes - bytes_) <= bytes_ / 8;
    }
    [[nodiscard]] bool is_over() const { return over_; }
    /// Once it is over, or comes again.
    [[nodiscard]] Rival winner() const { return winner_; }
    /// The library has all further calls, but those that are timed when it comes again.
    [[nodiscard]] bool is_lost() const { return (over_ || comes_again_) && winner_ == Rival::library && takes_effect_; }
    /// Counts a call after the verdict, of which the shortest way has not counted one that goes no further. True if it
    /// is time to look again: then it is not over any more. Never where bits depend on it.
    bool look_again() {
        if (calls_left_ >= 0) --calls_left_;
        if (calls_left_ >= 0) return false;
        if (kind_.rounding) {
            calls_left_ = most_calls_left;
            return false;
        }
        over_ = false;
        comes_again_ = true;
        timed_ = skipped_ = 0;
        times_.fill(std::numeric_limits<float>::max());
        return true;
    }
    /// For the shortest way of calls after the verdict: takes one from it, and goes on if that leaves no less than
    /// none.
    [[nodiscard]] std::int32_t& calls_left() { return calls_left_; }
    /// It has a verdict, which this is a second look at.
    [[nodiscard]] bool comes_again() const { return comes_again_; }
    /// It is over, and nobody knows who is faster.
    [[nodiscard]] bool is_uncompared() const { return over_ && rondo_ == 0 && library_ == 0; }
    /// What the fastest call took, once the ranks have judged.
    [[nodiscard]] float fastest(Rival rival) const { return rival == Rival::rondo ? rondo_ : library_; }

    /// Who carries out the next call.
    [[nodiscard]] Rival next() const { return times_next() ? rival_in(timed_) : stand_in(); }
    [[nodiscard]] bool times_next() const { return calls_to_wait_ == 0; }
    /// Nobody has judged it when it was due, or only one rival has carried out a call that both should have.
    [[nodiscard]] bool is_stuck() const {
        return !over_ && (timed_ == most_calls || (kind_.rounding && timed_ % 2 != 0));
    }
    /// It ends without a verdict, or with that from before. The library has all further calls, but where bits depend on
    /// it.
    void abandon() {
        winner_ = stand_in();
        if (!comes_again_) rondo_ = library_ = 0;
        over_ = true;
        comes_again_ = false;
        calls_left_ = most_calls_left;
    }
    /// Who carries out a call that is not timed.
    [[nodiscard]] Rival stand_in() const {
        if (comes_again_) return winner_;
        return kind_.rounding ? Rival::rondo : Rival::library;
    }
    /// The next call is not timed, because not all ranks can take part.
    void skip() {
        if (++skipped_ == most_skipped) abandon();
    }
    /// Counts the next call. Before it: it may fail.
    void begin() {
        if (times_next()) ++timed_;
        else --calls_to_wait_;
    }
    /// Of both rivals, so far.
    [[nodiscard]] int timed_calls() const { return timed_; }
    /// What it took on this rank, if it is timed.
    void end(float time) { times_[static_cast<std::size_t>(timed_ - 1)] = time; }

    /// The ranks have to agree on the times, before the next call. Where bits depend on it, the verdict stays: it takes
    /// as many calls as there may be, unless they are long.
    [[nodiscard]] bool is_due() const {
        if (timed_ == most_calls) return true;
        if (kind_.rounding) return is_long() && timed_ >= 2 * early_rounds;
        return timed_ == 2 * early_rounds;
    }
    /// The program may end before the ranks have to agree, and what they would agree on now is worth it.
    [[nodiscard]] bool is_worth_keeping() const {
        return is_long() && !comes_again_ && (!kind_.rounding || timed_ % 2 == 0);
    }
    /// Of the calls of this rank, in their order.
    [[nodiscard]] const Times& times() const { return times_; }
    /// The same, each of the rank that took longest.
    void judge(const Times& slowest) {
        Range rondo, library;
        for (int call = 0; call < timed_; ++call) {
            (rival_in(call) == Rival::rondo ? rondo : library).add(slowest[static_cast<std::size_t>(call)]);
        }
        const float of_rondo = rondo.has_calls() ? rondo.least : 0,
                    of_library = library.has_calls() ? library.least : 0;
        if (!comes_again_) set_fastest(of_rondo, of_library);
        if (!is_due()) return;
        const auto [faster, slower] = std::minmax(rondo, library);
        // Where bits depend on it, runs of a program shall not differ in which of its few calls were enough.
        const bool is_enough = kind_.rounding || faster.most * clearly_faster <= slower.least;
        if (!is_enough && timed_ != most_calls) return;
        // What was found before is not given up for a trifle. The figures are those of the verdict.
        const bool is_clear = faster.least * clearly_faster <= slower.least;
        const Rival before = winner_, now = of_rondo <= of_library ? Rival::rondo : Rival::library;
        if (!comes_again_ || is_clear || now == before) {
            winner_ = now;
            set_fastest(of_rondo, of_library);
        }
        if (winner_ != before) looks_ = 0;
        close();
    }

  private:
    void set_fastest(float rondo, float library) {
        rondo_ = rondo;
        library_ = library;
    }
    [[nodiscard]] bool is_long() const { return bytes_ >= long_call; }

    struct Range {
        float least = std::numeric_limits<float>::max(), most = 0;
        [[nodiscard]] bool has_calls() const { return least <= most; }
        void add(float time) {
            least = std::min(least, time);
            most = std::max(most, time);
        }
        friend bool operator<(const Range& a, const Range& b) { return a.least < b.least; }
    };
    static constexpr std::int32_t most_calls_left = std::int32_t{1} << 30;
    /// It is over, and comes again when as many calls have been made that this costs little: twice as many each time.
    void close() {
        over_ = true;
        comes_again_ = false;
        const float slower = std::max(rondo_, library_), faster = std::min(rondo_, library_);
        const float ratio = faster > 0 ? slower / faster : 1;
        const float cost = 2 * ratio + 10;  // in calls: two by the slower one, and before each all ranks come together
        const float calls = calls_to_one * cost * static_cast<float>(1U << looks_);
        const bool is_bounded = calls < static_cast<float>(most_calls_left);
        calls_left_ = is_bounded ? static_cast<std::int32_t>(calls) : most_calls_left;
        constexpr std::uint8_t most_doublings = 20;
        if (looks_ < most_doublings) ++looks_;
    }
    /// Who is second in a round is first in the next, but where it is Rondo's result that shall be left.
    [[nodiscard]] Rival rival_in(int call) const {
        const int turn = kind_.rounding ? call : call + call / 2;
        return turn % 2 == 0 ? Rival::library : Rival::rondo;
    }

    DuelKind kind_;
    std::int64_t bytes_ = 0;
    const void* chosen_ = nullptr;
    std::uint8_t calls_to_wait_ = 0;
    std::uint8_t timed_ = 0;  // calls, so far
    std::uint8_t skipped_ = 0;
    std::uint8_t looks_ = 0;
    bool over_ = false;
    bool comes_again_ = false;
    bool takes_effect_ = true;
    std::int32_t calls_left_ = 0;
    Rival winner_ = Rival::rondo;
    float rondo_ = 0, library_ = 0;
    Times times_{};
};

/// Those of a communicator, or of several. Without memory of their own: a rank that had none would leave the others
/// alone.
class Duels {
  public:
    explicit Duels(std::span<Duel> places) : places_(places) {}

    /// The duel about such calls and this choice; nullptr if there is none.
    Duel* find(const DuelKind& kind, const void* chosen) {
        for (Duel& duel : places_.first(used_)) {
            if (duel.kind() == kind && duel.chosen() == chosen) return &duel;
        }
        return nullptr;
    }
    /// Where there is none about such calls; nullptr if there are too many.
    Duel* add(const Duel& duel) {
        if (used_ == places_.size()) return nullptr;
        places_[used_] = duel;
        return &places_[used_++];
    }

    /// Ranks have not come together for a call that was to be timed. After a few times nobody waits for any such call
    /// any more: each costs a program that relies on it what no later gain may pay for.
    void lose_patience() { ++waits_in_vain_; }
    [[nodiscard]] bool have_patience() const { return waits_in_vain_ < most_waits_in_vain; }
    static constexpr int most_waits_in_vain = 3;

  private:
    std::span<Duel> places_;
    std::size_t used_ = 0;
    int waits_in_vain_ = 0;
};

}  // namespace rondo::mpi
