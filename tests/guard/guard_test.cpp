// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "rondo/backends/mpi/epoch.hpp"

namespace rondo::guard {
namespace {

constexpr std::uint64_t slow_call = 1'000'000;  // nanoseconds

/// One rank, whose others do what is made up.
class MadeUpSite final : public Site {
  public:
    MadeUpSite(TrialTable& table, bool call_waits_for_all) : Site({table, nullptr, false}, call_waits_for_all) {}

    Attendance come_together(bool ready, std::span<float> times) override {
        ++barriers;
        clock += together;
        slowest(times);
        Attendance answer = ready ? Attendance::all_ready : Attendance::not_all_ready;
        if (!answers.empty()) {
            answer = answers.front();
            answers.pop_front();
        }
        return answer;
    }
    void meet() override { ++meetings; }
    bool agree_on(std::span<float> times) override {
        ++agreements;
        if (agrees) slowest(times);
        return agrees;
    }
    std::optional<Trial> take_up(const Trial& /*fresh*/) override { return earlier; }
    [[nodiscard]] bool keeps_begun() const override { return keeps; }
    void note(const Trial& trial) override { noted.push_back(trial); }
    [[nodiscard]] Moment now() const override { return {1, other_calls, clock}; }
    [[nodiscard]] bool is_gone() const override { return gone; }

    std::deque<Attendance> answers;
    std::optional<Trial> earlier;
    std::uint64_t clock = 0, together = slow_call;
    std::uint32_t other_calls = 0;
    bool agrees = true, keeps = false, gone = false;
    int barriers = 0, meetings = 0, agreements = 0;
    std::vector<Trial> noted;
    std::function<void(std::span<float>)> slowest = [](std::span<float>) {};
};

class Guard : public testing::Test {
  protected:
    /// A call of the program. Who has carried it out.
    Contender call(bool rounding = false, std::int64_t bytes = 1000) {
        Trial* const joined = begin_call({{.rounding = rounding, .runs_ahead = runs_ahead}, bytes, nullptr}, site);
        trial = joined;
        if (joined->course_of(bytes) != Trial::Course::compared)
            return joined->course_of(bytes) == Trial::Course::rondo ? Contender::rondo : Contender::library;
        Contender by = Contender::rondo;
        compare(*joined, site, [&](Contender contender) {
            by = contender;
            site.clock += contender == Contender::rondo ? rondo_takes : library_takes;
            return 0;
        });
        return by;
    }
    void call_until_over() {
        do call();
        while (!trial->is_over());
    }

    /// Calls that may overlap, and do not.
    void win_calls_alone() {
        runs_ahead = true;
        rondo_takes = slow_call / 3;
        do {
            site.clock += slow_call;
            call();
        } while (!trial->is_over());
        EXPECT_EQ(trial->winner(), Contender::rondo);
    }
    static constexpr auto later_watches = std::span(Trial::early_watches).subspan(1);

    StoredTrials<2> stored;
    MadeUpSite site{stored.table, false};
    Trial* trial = nullptr;
    bool runs_ahead = false;
    std::uint64_t rondo_takes = 3 * slow_call, library_takes = slow_call;
};

TEST_F(Guard, gives_the_calls_to_the_faster_one) {
    call_until_over();
    EXPECT_EQ(site.barriers, 4);
    EXPECT_EQ(site.agreements, 1);
    ASSERT_EQ(site.noted.size(), 1U);
    EXPECT_TRUE(site.noted[0].is_over() && site.noted[0].is_lost());
    EXPECT_EQ(call(), Contender::library);
    EXPECT_EQ(site.barriers, 4);
}

TEST_F(Guard, believes_an_earlier_run) {
    site.earlier = Trial({}, 1000, nullptr);
    site.earlier->settle(Contender::library, 2, 1);
    EXPECT_EQ(call(), Contender::library);
    EXPECT_EQ(site.barriers, 0);
}

TEST_F(Guard, counts_each_call_after_the_verdict_once) {
    call_until_over();
    const std::int32_t left = trial->calls_left();
    call();
    EXPECT_EQ(trial->calls_left(), left - 1);
}

TEST_F(Guard, ends_the_epoch_if_a_verdict_turns) {
    call_until_over();
    *trial->counter() = 0;
    const std::uint64_t before = mpi::epoch();
    call_until_over();
    EXPECT_EQ(mpi::epoch(), before);
    *trial->counter() = 0;
    rondo_takes = slow_call / 3;
    call_until_over();
    EXPECT_EQ(trial->winner(), Contender::rondo);
    EXPECT_EQ(mpi::epoch(), before + mpi::epoch_step);
}

TEST_F(Guard, gives_up_if_ranks_cannot_agree) {
    site.agrees = false;
    call_until_over();
    EXPECT_TRUE(trial->is_uncompared());
    EXPECT_TRUE(trial->is_over() && trial->is_lost());
    EXPECT_TRUE(site.noted.empty());
}

TEST_F(Guard, waits_no_more_after_three_timeouts) {
    site.answers = {Attendance::not_all_here, Attendance::not_all_here, Attendance::not_all_here};
    EXPECT_EQ(call(), Contender::library);
    EXPECT_EQ(call(), Contender::library);
    EXPECT_FALSE(trial->is_over());
    EXPECT_EQ(call(), Contender::library);
    EXPECT_TRUE(trial->is_uncompared());
    EXPECT_EQ(site.noted.size(), 1U);
    EXPECT_EQ(call(), Contender::library);
    EXPECT_EQ(site.barriers, 3);
    EXPECT_EQ(call(true), Contender::rondo);  // of another key; its bits stay
    EXPECT_TRUE(trial->is_uncompared());
    EXPECT_EQ(site.barriers, 3);
}

TEST_F(Guard, keeps_a_verdict_that_a_timeout_interrupts) {
    rondo_takes = slow_call / 3;
    call_until_over();
    *trial->counter() = 0;
    site.answers = {Attendance::not_all_here};
    EXPECT_EQ(call(), Contender::rondo);
    EXPECT_TRUE(trial->is_over());
    EXPECT_EQ(trial->winner(), Contender::rondo);
    EXPECT_EQ(site.noted.size(), 1U);
}

TEST_F(Guard, compares_in_a_row_what_comes_in_a_row) {
    runs_ahead = true;
    int calls = 0;
    do {
        call();
        ++calls;
    } while (!trial->is_over());
    EXPECT_EQ(calls, Trial::first_batches);
    EXPECT_EQ(site.barriers, 1);  // times go with the others' answers
    EXPECT_EQ(site.agreements, 1);
    EXPECT_TRUE(trial->is_lost());
    ASSERT_EQ(site.noted.size(), 1U);
    EXPECT_EQ(static_cast<std::uint64_t>(site.noted[0].alone()), slow_call / 2);
    EXPECT_EQ(call(), Contender::library);
}

// A rank may have run ahead of the others in a batch: the next calls begin together.
TEST_F(Guard, compares_calls_alone_where_ranks_do_not_come_together_after_a_batch) {
    runs_ahead = true;
    site.answers = {Attendance::not_all_here};
    for (int each = 0; each < Trial::first_batches; ++each) call();
    EXPECT_FALSE(trial->is_over() || trial->is_in_row());
    EXPECT_TRUE(trial->needs_all_ranks());
}

TEST_F(Guard, begins_no_batch_where_nobody_waits_any_more) {
    for (int time = 0; time < TrialTable::most_timeouts; ++time) site.trials().count_timeout();
    runs_ahead = true;
    EXPECT_EQ(call(), Contender::library);
    EXPECT_TRUE(trial->is_uncompared());
    EXPECT_EQ(site.barriers, 0);
}

// Alone, a call of the library's takes three times as long; in a row, a tenth.
TEST_F(Guard, compares_in_a_row_what_comes_in_a_row_later) {
    win_calls_alone();
    const int barriers = site.barriers, agreements = site.agreements;
    library_takes = slow_call / 10;
    const int before = Trial::early_watches[1] + Trial::watched_calls;
    for (int each = 0; each < before; ++each) EXPECT_EQ(call(), Contender::rondo);
    EXPECT_TRUE(trial->is_in_row());
    EXPECT_EQ(site.barriers, barriers + 1);
    EXPECT_EQ(site.agreements, agreements);
    EXPECT_EQ(site.noted.size(), 1U);  // nothing was compared meanwhile
    call_until_over();
    EXPECT_TRUE(trial->is_lost());
    ASSERT_EQ(site.noted.size(), 2U);
    EXPECT_EQ(static_cast<std::uint64_t>(site.noted[1].alone()), slow_call / 3);
    EXPECT_EQ(site.noted[0].alone(), 0);
    EXPECT_EQ(call(), Contender::library);
}

// All ranks know that, and need not speak of it.
TEST_F(Guard, watches_no_calls_among_others) {
    win_calls_alone();
    const int barriers = site.barriers, agreements = site.agreements;
    for (const int calls : later_watches) {
        for (int each = 0; each < calls + 2; ++each) {
            ++site.other_calls;
            EXPECT_EQ(call(), Contender::rondo);
        }
        EXPECT_TRUE(trial->is_over());
    }
    EXPECT_GT(trial->calls_left(), 1000);
    EXPECT_EQ(site.barriers, barriers);
    EXPECT_EQ(site.agreements, agreements);
}

TEST_F(Guard, leaves_calls_that_come_alone_as_they_are) {
    win_calls_alone();
    const auto call_alone = [&] {
        site.clock += slow_call;
        return call();
    };
    for (const int calls : later_watches) {
        const int barriers = site.barriers;
        for (int each = 0; each < calls + Trial::watched_calls; ++each) EXPECT_EQ(call_alone(), Contender::rondo);
        EXPECT_TRUE(trial->is_over());
        EXPECT_EQ(site.barriers, barriers + 1);
    }
    EXPECT_EQ(site.noted.size(), 1U);
    EXPECT_GT(trial->calls_left(), 1000);
}

TEST_F(Guard, records_nothing_where_the_communicator_is_gone) {
    site.gone = true;
    EXPECT_EQ(call(), Contender::library);
    EXPECT_EQ(site.agreements, 0);
}

/// Writes down what happens, in order.
class Rehearsal {
  public:
    Rehearsal(std::string& events, std::uint64_t& clock, bool is_ready)
        : events_(&events), clock_(&clock), is_ready_(is_ready) {}
    [[nodiscard]] bool prepare() const { return is_ready_; }
    void take_input() { *events_ += 't'; }
    int carry_out() {
        *events_ += 'l';
        *clock_ += 100;
        return 0;
    }
    void give_back_input() { *events_ += 'g'; }

  private:
    std::string* events_;
    std::uint64_t* clock_;
    bool is_ready_;
};

TEST_F(Guard, has_the_library_compute_before_rondo_where_bits_depend_on_it) {
    std::string events;
    bool is_ready = true;
    const auto call_twice = [&] {
        events.clear();
        Trial& sum = *begin_call({{.rounding = true}, 8, nullptr}, site);
        compare_twice(sum, site, Rehearsal(events, site.clock, is_ready), [&](bool is_last) {
            site.clock += 100;
            events += is_last ? 'R' : 'r';
            return 0;
        });
    };
    call_twice();
    EXPECT_EQ(events, "tltR");
    EXPECT_EQ(site.meetings, 1);
    is_ready = false;
    call_twice();
    EXPECT_EQ(events, "R");
    is_ready = true;
    call_twice();  // short ones are compared in rows now
    call_twice();
    EXPECT_EQ(events, "tltltltltltltltltrgrgrgrgrgrgrgR");
}

// A long call that may overlap is watched once the first ones have shown nothing. What they took is kept all the same.
TEST_F(Guard, keeps_what_long_calls_have_shown_before_they_are_watched) {
    site.keeps = runs_ahead = true;
    const std::int64_t bytes = Trial::long_call;
    for (const std::uint64_t takes : {slow_call / 2, slow_call / 2, 3 * slow_call, 3 * slow_call}) {
        rondo_takes = takes;
        call(false, bytes);
    }
    EXPECT_TRUE(trial->watches());
    ASSERT_FALSE(site.noted.empty());
    EXPECT_EQ(site.noted.back().timed_calls(), 4);
    Trial next({.runs_ahead = true}, bytes, nullptr);
    next.resume(std::span(site.noted.back().times()).first(4));
    EXPECT_EQ(next.timed_calls(), 4);
    EXPECT_FALSE(next.watches());
}

// Else a program that calls such sums a few times would begin anew in each run, and pay for it.
TEST_F(Guard, keeps_what_sums_have_shown_though_it_decides_nothing) {
    std::string events;
    for (const bool keeps : {false, true}) {
        stored = {};
        site.keeps = keeps;
        for (const std::uint64_t takes :
             {slow_call / 2, slow_call}) {  // the library's: so much less that nobody believes it
            EXPECT_TRUE(site.noted.empty());
            Trial& sum = *begin_call({{.rounding = true}, 8, nullptr}, site);
            compare_twice(sum, site, Rehearsal(events, site.clock, true), [&](bool) {
                site.clock += takes;
                return 0;
            });
        }
        ASSERT_EQ(site.noted.size(), keeps ? 1U : 0U);
        if (keeps) EXPECT_EQ(site.noted[0].timed_calls(), 4);
    }
}

}  // namespace
}  // namespace rondo::guard
