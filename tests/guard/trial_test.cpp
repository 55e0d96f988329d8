// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace rondo::guard {
namespace {

constexpr float slow_call = 1e6F;  // as long as a disturbance lasts, in nanoseconds

constexpr TrialKey of_scans{.rounding = true, .runs_ahead = true}, of_broadcasts{.runs_ahead = true};

/// Makes the calls that the trial leaves untimed.
void make_untimed(Trial& trial) {
    while (!trial.is_over() && !trial.times_next()) trial.begin_call();
}

/// Ends a trial that revalidates, on one rank.
template <class TimeOf>
void finish(Trial& trial, TimeOf&& time_of) {
    while (!trial.is_over()) {
        make_untimed(trial);
        const Contender contender = trial.next();
        trial.begin_call();
        trial.record(time_of(contender, 0));
        if (trial.is_due()) trial.judge(trial.times());
    }
}

float as_fast(Contender /*contender*/) { return slow_call; }

/// Makes calls, so long apart, until the ranks judge whether these come in a row.
template <class TimeOf = float (&)(Contender)>
void watch_next(Trial& trial, float apart, TimeOf&& time_of = as_fast) {
    ASSERT_TRUE(trial.notes_pauses());
    std::uint64_t time = 0;
    while (!trial.is_due()) {
        const float takes = time_of(trial.next());
        trial.begin_call();
        const Moment began{1, 0, time += static_cast<std::uint64_t>(apart)}, ended{1, 0, time += 1000};
        if (!trial.watches()) trial.record(takes);
        EXPECT_TRUE(trial.note_pause(began, ended));
    }
    if (!trial.knows_alone()) trial.know_together(2 * slow_call);
    if (trial.judge_pauses(trial.pause())) trial.judge(trial.times());
}

/// A trial whose first calls came one by one.
Trial of_calls_alone(TrialKey key) {
    Trial trial(key, 8, nullptr);
    watch_next(trial, 2 * slow_call);
    return trial;
}

/// Ends the trial by times that show nothing.
void finish_in_noise(Trial& trial) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> share(0, 1);
    finish(trial, [&](Contender, int) { return slow_call * std::pow(10.0F, 3 * share(random)); });
}

/// Calls until the trial is over, on ranks that measure `time_of(contender, rank)`. How many were timed; the verdict is
/// that of all ranks.
template <class TimeOf>
int run(Trial& verdict, int ranks, TimeOf&& time_of, const Trial& begun = {}) {
    std::vector<Trial> trials(static_cast<std::size_t>(ranks), begun);
    int calls = 0;
    for (; !trials[0].is_over(); ++calls) {
        Trial::Times slowest{};
        for (Trial& trial : trials) make_untimed(trial);
        const Contender contender = trials[0].next();
        EXPECT_FALSE(trials[0].is_stuck() && trials[0].is_due()) << "call " << calls;
        for (int rank = 0; rank < ranks; ++rank) {
            Trial& trial = trials[static_cast<std::size_t>(rank)];
            EXPECT_EQ(trial.next(), contender) << "call " << calls;
            trial.begin_call();
            trial.record(time_of(contender, rank));
            std::ranges::transform(slowest, trial.times(), slowest.begin(),
                                   [](float a, float b) { return std::max(a, b); });
        }
        if (!trials[0].is_due()) continue;
        for (Trial& trial : trials) trial.judge(slowest);
    }
    for (const Trial& trial : trials) EXPECT_EQ(trial.winner(), trials[0].winner());
    verdict = trials[0];
    return calls;
}

constexpr int first_round = 2 * Trial::rounds.front();

TEST(Trial, gives_both_as_many_calls_and_as_many_first_ones) {
    Trial trial;
    for (int round = 0; round < Trial::rounds.back(); ++round) {
        const Contender first = trial.next();
        EXPECT_EQ(first, round % 2 == 0 ? Contender::library : Contender::rondo);
        trial.begin_call();
        EXPECT_NE(trial.next(), first);
        trial.begin_call();
        make_untimed(trial);
    }
}

/// Times of a trial whose first calls do not tell, but speak for one of both.
float in_favour_of(Contender better, Contender contender, int call) {
    return (contender == better ? 1 : 1.3F) * slow_call * (call % 4 == 1 || call % 4 == 2 ? 1 : 1.1F);
}

// To wait for each other costs more than a call. Where Rondo has the calls for their bits, though the library seems to
// be faster, the sooner that is known the better.
TEST(Trial, rests_between_further_calls_and_leaves_them_to_who_seems_to_be_faster) {
    for (const bool rounding : {false, true}) {
        for (const Contender better : {Contender::rondo, Contender::library}) {
            Trial trial({.rounding = rounding}, 8, nullptr);
            int untimed = 0;
            while (!trial.is_over()) {
                if (!trial.times_next()) {
                    EXPECT_EQ(trial.stand_in(), better);
                    EXPECT_GE(trial.timed_calls(), first_round);
                    ++untimed;
                    trial.begin_call();
                    continue;
                }
                const Contender contender = trial.next();
                trial.begin_call();
                trial.record(in_favour_of(better, contender, trial.timed_calls()));
                if (trial.is_due()) trial.judge(trial.times());
            }
            EXPECT_EQ(trial.winner(), better);
            const int pairs = (trial.timed_calls() - first_round) / 2;
            const bool rests = better == Contender::rondo || !rounding;
            EXPECT_EQ(untimed, rests ? Trial::calls_to_rest * pairs : 0);
        }
    }
}

// The next run goes on from there. Long calls are kept one by one.
TEST(Trial, of_short_calls_agrees_before_each_rest) {
    Trial trial(TrialKey{}, Trial::long_call - 1, nullptr);
    for (int call = 0; call < 2 * first_round; ++call) {
        make_untimed(trial);
        const Contender contender = trial.next();
        trial.begin_call();
        trial.record(in_favour_of(Contender::rondo, contender, trial.timed_calls()));
        EXPECT_EQ(trial.is_worth_keeping(), trial.timed_calls() >= first_round && trial.timed_calls() % 2 == 0);
        if (trial.is_due()) trial.judge(trial.times());
        if (trial.is_over()) break;
    }
}

// An earlier run may have timed one call more of one contender than of the other, if calls are long. That call is no
// evidence.
TEST(Trial, leans_to_neither_after_a_call_more_of_one) {
    for (std::size_t known = 1; known < Trial::most_calls; ++known) {
        Trial trial(of_broadcasts, Trial::long_call, nullptr);
        const std::vector<float> alike(known, slow_call);
        trial.resume(alike);
        EXPECT_EQ(trial.timed_calls(), static_cast<int>(known));
        EXPECT_EQ(trial.stand_in(), Contender::library) << known;
    }
}

TEST(Trial, does_not_rest_on_one_node) {
    Trial trial;
    trial.stay_on_one_node();
    while (!trial.is_over()) {
        ASSERT_TRUE(trial.times_next());
        const Contender contender = trial.next();
        trial.begin_call();
        trial.record(in_favour_of(Contender::rondo, contender, trial.timed_calls()));
        if (trial.is_due()) trial.judge(trial.times());
    }
    EXPECT_EQ(trial.winner(), Contender::rondo);
}

TEST(Trial, is_over_early_if_all_calls_say_the_same) {
    Trial trial;
    const auto rondo_takes = [](float ratio) {
        return
            [ratio](Contender contender, int) { return contender == Contender::rondo ? ratio * slow_call : slow_call; };
    };
    EXPECT_EQ(run(trial, 3, rondo_takes(3)), first_round);
    EXPECT_EQ(trial.winner(), Contender::library);
    EXPECT_EQ(run(trial, 3, rondo_takes(1 / 3.0F)), first_round);
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_EQ(run(trial, 3, rondo_takes(1.08F)), 2 * Comparison::few);
    EXPECT_EQ(trial.winner(), Contender::library);
    EXPECT_EQ(run(trial, 3, rondo_takes(100)), 2 * Comparison::few);  // two such calls may have been disturbed
    EXPECT_EQ(trial.winner(), Contender::library);
}

// Two calls of each were struck by one or two turns of the scheduler.
TEST(Trial, on_one_node_believes_in_no_milliseconds) {
    Trial begun;
    begun.stay_on_one_node();
    Trial trial;
    int calls = 0;
    run(
        trial, 2,
        [&](Contender contender, int) {
            const bool is_rondo = contender == Contender::rondo;
            return ++calls <= 2 * first_round ? (is_rondo ? 8e6F : 4e6F) : is_rondo ? 500.0F : 1000.0F;
        },
        begun);
    EXPECT_EQ(trial.winner(), Contender::rondo);
}

TEST(Trial, without_a_difference_leaves_calls_to_the_library) {
    for (const float ratio : {0.97F, 1.0F, 1.03F}) {
        Trial trial;
        const int calls = run(trial, 2, [&](Contender contender, int) {
            return contender == Contender::rondo ? ratio * slow_call : slow_call;
        });
        EXPECT_EQ(calls, first_round);
        EXPECT_TRUE(trial.is_lost());
        EXPECT_EQ(trial.time_of(Contender::rondo), trial.time_of(Contender::library));
        EXPECT_FALSE(trial.is_undecided());
    }
}

TEST(Trial, a_first_call_that_takes_long_decides_nothing) {
    for (const bool of_rondo : {false, true}) {
        Trial trial;
        int calls = 0;
        run(trial, 1, [&](Contender contender, int) {
            const bool is_cold = ++calls == (of_rondo ? 2 : 1);
            return (is_cold ? 1000.0F : contender == Contender::rondo ? 3.0F : 1.0F) * slow_call;
        });
        EXPECT_EQ(trial.winner(), Contender::library);
    }
}

TEST(Trial, the_slowest_rank_counts) {
    Trial trial;
    run(trial, 4, [](Contender contender, int rank) {
        return contender == Contender::rondo && rank == 2 ? 2 * slow_call : slow_call;
    });
    EXPECT_EQ(trial.winner(), Contender::library);
}

// After the first call of all, in which pages are touched for the first time, each side gets faster for some calls.
TEST(Trial, compares_short_calls_when_they_are_warm) {
    Trial trial;
    std::array<int, 2> calls_of{};
    run(trial, 1, [&](Contender contender, int) {
        const bool is_rondo = contender == Contender::rondo;
        const int call = calls_of[is_rondo ? 1 : 0]++;
        const float cold = call == 0 ? 1e5F : call < 8 ? (is_rondo ? 5e3F : 2e3F) : 0;
        return cold + (is_rondo ? 650.0F : 1300.0F);
    });
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::rondo), 650);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::library), 1300);
}

TEST(Trial, takes_short_calls_in_rows_which_begin_where_ranks_are_together) {
    Trial trial;
    int together = 0, changes = 0;
    Contender before = trial.next();
    for (int call = 0; !trial.is_over(); ++call) {
        together += trial.needs_all_ranks() ? 1 : 0;
        EXPECT_EQ(trial.is_in_row(), call >= first_round);
        changes += trial.next() != before ? 1 : 0;
        before = trial.next();
        trial.begin_call();
        trial.record(500);
        if (trial.is_due()) trial.judge(trial.times());
    }
    EXPECT_EQ(together, first_round);
    EXPECT_EQ(trial.timed_calls(), Trial::most_calls);
    EXPECT_LT(changes, 8);
}

// Calls are disturbed as on a machine whose processors others use as well: by 1 to 10 ms, one of a hundred of them, one
// of ten, or half. tests/benchmarks/trial_benchmark.cpp shows more of it.
TEST(Trial, rarely_takes_the_slower_one_where_that_matters) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    constexpr int repetitions = 1000;
    for (const float undisturbed : {1e3F, 3e5F, 5e6F}) {
        for (const float frequency : {0.01F, 0.1F, 0.5F}) {
            for (const float ratio : {1.0F, 1.3F, 3.0F}) {
                int wrong = 0, right = 0;
                for (int repetition = 0; repetition < repetitions; ++repetition) {
                    Trial trial;
                    run(trial, 1, [&](Contender contender, int) {
                        const float jitter = 1 + 0.1F * share(random);
                        const float delay = share(random) < frequency ? 1e6F + 9e6F * share(random) : 0;
                        return undisturbed * jitter * (contender == Contender::rondo ? ratio : 1) + delay;
                    });
                    const bool is_alike = trial.time_of(Contender::rondo) == trial.time_of(Contender::library);
                    if (is_alike || trial.is_undecided()) continue;
                    (trial.winner() == Contender::library && ratio > 1 ? right : wrong) += 1;
                }
                EXPECT_LT(wrong, 0.03 * repetitions) << undisturbed << " " << frequency << " " << ratio;
                if (ratio > 1.2F) {
                    EXPECT_LT(wrong, 0.02 * repetitions) << undisturbed << " " << frequency << " " << ratio;
                    EXPECT_GT(right, 0.6 * repetitions) << undisturbed << " " << frequency << " " << ratio;
                }
            }
        }
    }
}

// Whatever the library does without Rondo is safe: without a difference it has most of them.
TEST(Trial, leaves_calls_to_who_seems_to_be_faster_where_nobody_can_tell) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    int undecided = 0, lost = 0;
    for (int repetition = 0; repetition < 200; ++repetition) {
        for (const bool rounding : {false, true}) {
            Trial trial({.rounding = rounding}, 8, nullptr);
            run(trial, 1, [&](Contender, int) { return std::pow(10.0F, 3 + 5 * share(random)); }, trial);
            EXPECT_FALSE(trial.is_uncompared());
            EXPECT_FALSE(trial.is_undecided() && trial.winner() == Contender::library);
            EXPECT_EQ(trial.is_lost(), trial.winner() == Contender::library && !rounding);  // bits stay in this run
            undecided += trial.is_undecided() ? 1 : 0;
            lost += trial.winner() == Contender::library ? 1 : 0;
        }
    }
    EXPECT_GT(undecided, 50);
    EXPECT_GT(lost, 200);
}

// For their bits, Rondo has them in this run. Where nothing speaks for it, it would have them in every run.
TEST(Trial, leaves_sums_to_the_library_in_the_next_run_where_rondo_does_not_seem_to_be_faster) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    for (const TrialKey& key : {TrialKey{.rounding = true}, of_scans}) {
        int of_library = 0;
        constexpr int repetitions = 200;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
            const auto noise = [&](Contender, int = 0) { return slow_call * std::pow(10.0F, 3 * share(random)); };
            Trial trial(key, 8, nullptr);
            if (trial.notes_pauses()) watch_next(trial, 0, noise);
            finish(trial, noise);
            EXPECT_FALSE(trial.is_uncompared() || trial.is_lost());
            of_library += trial.winner() == Contender::library ? 1 : 0;
        }
        EXPECT_GT(of_library, repetitions / 2);
        EXPECT_LT(of_library, repetitions);
    }
}

// If half of the calls are disturbed by ten times what they take, who takes three times as long has the calls of two
// rests in the mean; if one of ten is, hardly any.
TEST(Trial, rarely_leaves_calls_to_rondo_where_it_is_slower) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    constexpr int repetitions = 1000;
    for (const float ratio : {1.3F, 3.0F}) {
        for (const auto& [frequency, most_rests] : {std::pair(0.1F, 0.2), {0.5F, 2.0}}) {
            int untimed = 0;
            for (int repetition = 0; repetition < repetitions; ++repetition) {
                Trial trial;
                while (!trial.is_over()) {
                    const bool is_timed = trial.times_next();
                    const Contender contender = trial.next();
                    trial.begin_call();
                    untimed += !is_timed && contender == Contender::rondo ? 1 : 0;
                    if (!is_timed) continue;
                    const float delay = share(random) < frequency ? 1e6F + 9e6F * share(random) : 0;
                    const float undisturbed = 3e5F * (1 + 0.1F * share(random));
                    trial.record(undisturbed * (contender == Contender::rondo ? ratio : 1) + delay);
                    if (trial.is_due()) trial.judge(trial.times());
                }
            }
            EXPECT_LT(untimed, most_rests * Trial::calls_to_rest * repetitions) << ratio << " " << frequency;
        }
    }
}

/// Counts a call after the verdict. True if it revalidates.
bool begins_again(Trial& trial) {
    trial.count_call();
    return trial.revalidates();
}

/// Calls after the verdict until it revalidates.
int calls_until_revalidation(Trial& trial) {
    for (int calls = 1;; ++calls) {
        if (begins_again(trial)) return calls;
        EXPECT_TRUE(trial.is_over());
    }
}

TEST(Trial, revalidates_when_that_costs_little) {
    const auto rondo_takes = [](float ratio) {
        return
            [ratio](Contender contender, int) { return contender == Contender::rondo ? ratio * slow_call : slow_call; };
    };
    Trial trial;
    run(trial, 2, rondo_takes(3));
    EXPECT_TRUE(trial.is_lost());
    const int first = calls_until_revalidation(trial);
    EXPECT_GT(first, 1000);
    EXPECT_FALSE(trial.is_over());
    EXPECT_TRUE(trial.is_lost());  // what is not timed stays where it was
    EXPECT_EQ(trial.stand_in(), Contender::library);
    finish(trial, rondo_takes(3));
    EXPECT_TRUE(trial.is_lost());
    EXPECT_EQ(calls_until_revalidation(trial), 2 * (first - 1) + 1);  // twice as many
    finish(trial, rondo_takes(1 / 3.0F));
    EXPECT_FALSE(trial.is_lost());
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_EQ(calls_until_revalidation(trial), first);  // it is news, and may be wrong
}

TEST(Trial, gives_up_what_today_s_calls_contradict) {
    Trial trial;
    trial.settle(Contender::library, 3525 * slow_call, slow_call);  // a call was disturbed
    while (!begins_again(trial)) continue;
    finish(trial, [](Contender contender, int) { return contender == Contender::rondo ? slow_call : 2 * slow_call; });
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::rondo), slow_call);
}

TEST(Trial, keeps_what_it_knows_where_a_revalidation_is_disturbed) {
    Trial trial;
    trial.settle(Contender::rondo, slow_call, 2 * slow_call);
    while (!begins_again(trial)) continue;
    finish_in_noise(trial);
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::rondo), slow_call);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::library), 2 * slow_call);
}

TEST(Trial, revalidates_short_calls_early) {
    Trial trial;
    trial.settle(Contender::library, 1300, 650);
    for (const std::int32_t calls : Trial::early_revalidations) {
        EXPECT_EQ(calls_until_revalidation(trial), calls + 1);
        EXPECT_TRUE(trial.is_in_row());  // both are warm, and known to be short
        finish(trial, [](Contender contender, int) { return contender == Contender::rondo ? 1300.0F : 650.0F; });
        EXPECT_TRUE(trial.is_lost());
    }
    EXPECT_GT(calls_until_revalidation(trial), 2000);
}

TEST(Trial, waits_the_longer_the_slower_one_is_slow) {
    const auto calls_after = [](float slower) {
        Trial trial;
        trial.settle(Contender::library, slower * slow_call, slow_call);
        return calls_until_revalidation(trial);
    };
    for (const float ratio : {1.0F, 2.0F, 10.0F, 1000.0F}) {
        EXPECT_GE(static_cast<float>(calls_after(ratio)), 100 * 2 * (ratio - 1));  // a hundredth of all calls' time
    }
}

/// What trials about calls that are not short cost in so many calls, in calls of the faster contender, and what the
/// first one does. `together`: what it costs that all ranks come together for a call, or agree.
struct Cost {
    double first = 0, all = 0;
};
Cost cost_of_trials(int calls, float slower, float together, const std::function<void(int, const Cost&)>& at_each) {
    Trial trial;
    Cost cost;
    bool is_first = true;
    for (int call = 1; call <= calls; ++call) {
        trial.count_call();
        if (!trial.is_over() && !trial.times_next()) {
            cost.all += trial.stand_in() == Contender::rondo ? slower - 1 : 0;
            trial.begin_call();
        } else if (!trial.is_over()) {
            const Contender contender = trial.next();
            trial.begin_call();
            trial.record((contender == Contender::rondo ? slower : 1) * slow_call);
            cost.all += together + (contender == Contender::rondo ? slower - 1 : 0);
            if (trial.is_due()) {
                cost.all += together;
                trial.judge(trial.times());
            }
        }
        if (is_first) cost.first = cost.all;
        is_first = is_first && !trial.is_over();
        at_each(call, cost);
    }
    return cost;
}

// The bound that docs/explanation/guard.md promises, at every call.
TEST(Trial, costs_no_more_than_the_first_one_and_a_hundredth) {
    constexpr int calls = 3'000'000;
    for (const float slower : {1.0F, 1.05F, 1.2F, 2.0F, 5.0F, 30.0F, 1000.0F}) {
        const Cost cost = cost_of_trials(calls, slower, 1, [&](int call, const Cost& so_far) {
            ASSERT_LE(so_far.all, so_far.first + call / 100.0) << slower << " after " << call;
        });
        EXPECT_LE(cost.first, 5 * double(slower - 1) + 14) << slower;
        EXPECT_LT(cost.all, cost.first + calls / 200.0) << slower;        // there is less and less of it
        if (slower < 100) EXPECT_GT(cost.all, 2 * cost.first) << slower;  // it has revalidated
    }
}

// Whatever the run ends after, it is as if it had not ended.
TEST(Trial, goes_on_where_an_earlier_run_has_ended) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> share(0, 1);
    for (const TrialKey& key : {TrialKey{}, TrialKey{.rounding = true}, of_broadcasts, of_scans}) {
        std::array<float, Trial::most_calls> times{};
        for (float& time : times) time = slow_call * (1 + share(random));
        for (int before = 0; before <= 2 * Trial::rounds.back(); ++before) {
            Trial whole(key, Trial::long_call, nullptr);
            Trial first = whole, next = whole;
            const auto go_on = [&](Trial& trial, int calls) {
                while (!trial.is_over() && trial.timed_calls() < calls) {
                    if (trial.watches()) watch_next(trial, 100 * slow_call);
                    make_untimed(trial);
                    const auto call = static_cast<std::size_t>(trial.timed_calls());
                    trial.begin_call();
                    trial.record(times[call]);
                    if (trial.is_due() || trial.is_worth_keeping()) trial.judge(trial.times());
                }
            };
            go_on(whole, Trial::most_calls);
            go_on(first, before);
            const int known = first.timed_calls();
            if (first.is_over() || (key.rounding && known % 2 != 0)) continue;
            next.resume(std::span(first.times()).first(static_cast<std::size_t>(known)));
            EXPECT_EQ(next.timed_calls(), known);
            EXPECT_FALSE(next.is_stuck());
            go_on(next, Trial::most_calls);
            EXPECT_EQ(next.winner(), whole.winner()) << before;
            EXPECT_EQ(next.timed_calls(), whole.timed_calls()) << before;
            EXPECT_EQ(next.time_of(Contender::rondo), whole.time_of(Contender::rondo)) << before;
        }
    }
    Trial sum({.rounding = true}, 8, nullptr);
    sum.resume(std::array{1.0F, 2.0F, 3.0F});  // nobody writes that: both carry out each call
    EXPECT_EQ(sum.timed_calls(), 2);
    const std::vector<float> too_many(100, 1.0F);
    Trial full;
    full.resume(too_many);
    EXPECT_EQ(full.timed_calls(), 0);
    EXPECT_FALSE(full.is_due());
}

// Otherwise one contender has all the short calls of a program that goes forth and back.
TEST(Trial, of_calls_of_any_length_finds_nothing_in_a_pattern_of_lengths) {
    for (const std::array<int, 4>& lengths : {std::array{1, 5, 5, 1}, std::array{5, 1, 1, 5}, std::array{1, 5, 1, 5}}) {
        Trial trial({.any_length = true}, 0, nullptr);
        for (int call = 0; call < Trial::most_calls && !trial.is_over(); ++call) {
            while (!trial.times_next()) trial.begin_call();
            trial.begin_call();
            trial.record(static_cast<float>(lengths[static_cast<std::size_t>(call % 4)]) * slow_call);
            if (trial.is_due()) trial.judge(trial.times());
        }
        EXPECT_TRUE(trial.is_over());
        const bool is_alike = trial.time_of(Contender::rondo) == trial.time_of(Contender::library);
        EXPECT_TRUE(is_alike || trial.is_undecided());
    }
}

TEST(Trial, of_long_calls_agrees_on_each) {
    Trial trial({}, Trial::long_call, nullptr);
    for (int call = 0; call < first_round; ++call) {
        EXPECT_FALSE(trial.is_over());
        const bool is_library = trial.next() == Contender::library;
        trial.begin_call();
        trial.record(is_library ? slow_call : 3 * slow_call);
        EXPECT_TRUE(trial.is_worth_keeping()) << call;
        trial.judge(trial.times());
    }
    EXPECT_TRUE(trial.is_over());
    Trial sum({.rounding = true}, Trial::long_call, nullptr);
    sum.begin_call();
    EXPECT_FALSE(sum.is_worth_keeping());  // Rondo's call follows at once
    sum.begin_call();
    EXPECT_TRUE(sum.is_worth_keeping());
    EXPECT_FALSE(Trial({}, Trial::long_call - 1, nullptr).is_worth_keeping());
    Trial of_any_length({.any_length = true}, Trial::long_call, nullptr);
    of_any_length.begin_call();
    EXPECT_FALSE(of_any_length.is_worth_keeping());  // the next run's may be longer
}

TEST(Trial, never_revalidates_where_bits_depend_on_it) {
    Trial trial({.rounding = true}, 8, nullptr);
    trial.settle(Contender::library, 1.01F, 1.0F);
    for (int call = 0; call < 100000; ++call) ASSERT_FALSE(begins_again(trial));
    EXPECT_TRUE(trial.is_lost());
}

/// Makes calls until the trial watches some, and these: so long apart.
void watch(Trial& trial, float apart) {
    while (!begins_again(trial)) continue;
    ASSERT_TRUE(trial.watches());
    for (int call = 0; call < Trial::watched_calls; ++call) {
        EXPECT_EQ(trial.next(), Contender::rondo);
        EXPECT_FALSE(trial.needs_all_ranks());
    }
    watch_next(trial, apart);
}

TEST(Trial, keeps_bits_where_calls_overlap) {
    Trial trial = of_calls_alone(of_scans);
    const auto rondo_takes = [](float ratio) {
        return
            [ratio](Contender contender, int) { return contender == Contender::rondo ? ratio * slow_call : slow_call; };
    };
    finish(trial, rondo_takes(1 / 3.0F));
    EXPECT_EQ(trial.winner(), Contender::rondo);
    watch(trial, 0);
    EXPECT_TRUE(trial.compares_twice());
    EXPECT_EQ(trial.repetitions(), Trial::calls_in_row);
    finish(trial, rondo_takes(10));
    EXPECT_EQ(trial.winner(), Contender::library);
    EXPECT_FALSE(trial.is_lost());  // in this run
    for (int call = 0; call < 100000; ++call) ASSERT_FALSE(begins_again(trial));

    Trial next(of_scans, 8, nullptr);  // its results have been seen
    next.settle(Contender::rondo, slow_call, 2 * slow_call);
    for (int call = 0; call < 100000; ++call) ASSERT_FALSE(begins_again(next));
}

TEST(Trial, does_not_watch_calls_that_are_known_to_come_in_a_row) {
    Trial trial(of_broadcasts, 8, nullptr);
    trial.settle(Contender::rondo, slow_call, 2 * slow_call, 8 * slow_call);
    EXPECT_GE(calls_until_revalidation(trial), 100 * (16 + 3 * 8));  // 16 slower calls, and three short collectives
    EXPECT_TRUE(trial.is_in_row());
}

TEST(Trial, keeps_its_verdict_if_calls_in_a_row_tell_nothing) {
    Trial trial(of_broadcasts, 8, nullptr);
    trial.settle(Contender::rondo, slow_call, 2 * slow_call);
    watch(trial, 0);
    finish_in_noise(trial);
    EXPECT_TRUE(trial.is_over());
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_FLOAT_EQ(trial.time_of(Contender::library), 2 * slow_call);
    EXPECT_EQ(trial.alone(), 0);  // the verdict is about calls alone
}

/// Makes the first calls, which ranks wait for and which show nothing.
void begin_in_noise(Trial& trial, int calls = first_round) {
    for (int call = trial.timed_calls(); call < calls; ++call) {
        trial.begin_call();
        trial.record(slow_call * static_cast<float>(1 + call));
        if (trial.is_due()) trial.judge(trial.times());
    }
}

TEST(Trial, begins_with_batches_where_calls_may_overlap) {
    const auto library_takes = [](Contender contender) {
        return contender == Contender::library ? slow_call / 3 : slow_call;
    };
    Trial trial(of_broadcasts, 8, nullptr);
    EXPECT_FALSE(trial.needs_all_ranks());  // calls are compared as they come
    watch_next(trial, 0, library_takes);
    EXPECT_EQ(trial.timed_calls(), Trial::first_batches);
    EXPECT_TRUE(trial.is_lost());
    EXPECT_EQ(trial.alone(), slow_call);  // half as long as coming together has taken
    Trial sum(of_scans, 8, nullptr);      // both carry out each call: the program's pauses are not seen
    EXPECT_TRUE(sum.watches());
    EXPECT_EQ(sum.next(), Contender::rondo);
    watch_next(sum, 0);
    EXPECT_TRUE(sum.is_in_row() && sum.needs_all_ranks());
    for (const TrialKey& key : {of_broadcasts, of_scans}) {
        const Trial alone = of_calls_alone(key);
        EXPECT_FALSE(alone.is_over() || alone.watches() || alone.is_in_row());
        EXPECT_EQ(alone.timed_calls(), 0);
    }
    EXPECT_FALSE(Trial(of_broadcasts, Trial::long_call, nullptr).is_in_row());  // there may be few
    Trial on_one_node(of_broadcasts, 8, nullptr);
    on_one_node.stay_on_one_node();
    EXPECT_FALSE(on_one_node.is_in_row());
}

// The end of a batch overlaps the beginning of the next one, and hides a difference.
TEST(Trial, leaves_a_tie_in_a_row_to_the_library) {
    Trial trial(of_broadcasts, 8, nullptr);
    watch_next(trial, 0);
    EXPECT_TRUE(trial.is_lost());
    EXPECT_EQ(trial.time_of(Contender::rondo), trial.time_of(Contender::library));
    Trial next(of_broadcasts, 8, nullptr);
    next.settle(Contender::rondo, slow_call, 2 * slow_call, 8 * slow_call);
    while (!begins_again(next)) continue;
    finish(next, [](Contender, int) { return slow_call; });
    EXPECT_TRUE(next.is_lost());
}

// More of them cost more than they tell.
TEST(Trial, leaves_calls_in_a_row_to_the_library_where_rondo_does_not_win_soon) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> share(0, 1);
    const auto time_of = [&](float ratio) {
        return [&, ratio](Contender contender, int = 0) {
            return (contender == Contender::rondo ? ratio : 1) * slow_call * std::pow(10.0F, share(random));
        };
    };
    int halves = 0;
    for (const float ratio : {0.5F, 1.0F, 1.5F}) {
        int won = 0, timed = 0;
        for (int repetition = 0; repetition < 100; ++repetition) {
            Trial trial(of_broadcasts, 8, nullptr);
            watch_next(trial, 0, time_of(ratio));
            halves += trial.is_over() ? 1 : 0;
            finish(trial, time_of(ratio));
            won += trial.winner() == Contender::rondo ? 1 : 0;
            timed = std::max(timed, trial.timed_calls());
        }
        EXPECT_LE(timed, Trial::most_calls);
        if (ratio < 1) EXPECT_GT(won, 30);
        else EXPECT_LT(won, 4) << ratio;
    }
    EXPECT_GT(halves, 100);
}

TEST(Trial, ends_batches_early_only_where_calls_have_one_length) {
    Trial trial({.runs_ahead = true, .any_length = true}, 0, nullptr);
    watch_next(trial, 0, [](Contender contender) { return contender == Contender::rondo ? 3 * slow_call : slow_call; });
    EXPECT_EQ(trial.timed_calls(), Trial::most_calls);
    EXPECT_TRUE(trial.is_lost());
}

TEST(Trial, watches_at_once_if_the_first_calls_tell_nothing) {
    for (const bool rounding : {false, true}) {
        Trial trial({.rounding = rounding, .runs_ahead = true}, Trial::long_call, nullptr);
        begin_in_noise(trial);
        ASSERT_TRUE(trial.watches());
        EXPECT_EQ(trial.next(), rounding ? Contender::rondo : Contender::library);
        EXPECT_EQ(trial.timed_calls(), first_round);  // they are not forgotten
        Trial alone = trial;
        watch_next(trial, 0);
        EXPECT_TRUE(trial.is_in_row());
        watch_next(alone, 2 * slow_call);
        EXPECT_FALSE(alone.is_in_row() || alone.watches() || alone.is_over());
        EXPECT_EQ(alone.timed_calls(), first_round);
        begin_in_noise(alone, 2 * Trial::rounds[1]);
        EXPECT_FALSE(alone.watches());  // not again
    }
}

TEST(Trial, does_not_watch_short_calls_again) {
    Trial trial = of_calls_alone(of_broadcasts);
    std::mt19937 random(1);
    std::uniform_real_distribution<float> share(0, 1);
    while (!trial.is_over()) {
        trial.begin_call();
        trial.record(1000 * std::pow(10.0F, 1.5F * share(random)));
        if (trial.is_due()) trial.judge(trial.times());
        ASSERT_FALSE(trial.watches());
    }
}

// The next run must not pay for the same again.
TEST(Trial, keeps_that_rows_of_calls_that_overlap_tell_nothing) {
    std::mt19937 random(2);
    std::uniform_real_distribution<float> share(0, 1);
    const auto noise = [&](Contender, int = 0) { return slow_call * std::pow(10.0F, 3 * share(random)); };
    Trial trial(of_broadcasts, 8, nullptr);
    watch_next(trial, 0, noise);
    finish(trial, noise);
    EXPECT_TRUE(trial.is_uncompared() && trial.is_lost());
    EXPECT_GT(trial.alone(), 0);
    Trial next(of_broadcasts, 8, nullptr);
    next.settle_uncompared(slow_call);
    EXPECT_TRUE(next.is_lost());
    EXPECT_EQ(next.alone(), slow_call);
}

TEST(Trial, forgets_that_calls_overlap_if_ranks_do_not_come_together) {
    Trial trial(of_broadcasts, 8, nullptr);
    watch_next(trial, 0);
    trial.abandon();
    EXPECT_TRUE(trial.is_uncompared());
    EXPECT_EQ(trial.alone(), 0);
}

// It is rare, and comes when the program has changed.
TEST(Trial, watches_before_it_revalidates) {
    Trial trial(of_broadcasts, 8, nullptr);
    trial.settle(Contender::rondo, slow_call, 2 * slow_call);
    for (std::size_t early = 0; early < Trial::early_watches.size(); ++early) {
        watch(trial, 2 * slow_call);
        EXPECT_TRUE(trial.is_over());
    }
    watch(trial, 2 * slow_call);
    EXPECT_FALSE(trial.is_over() || trial.watches() || trial.is_in_row());
    finish(trial, [](Contender contender, int) { return contender == Contender::rondo ? slow_call : 2 * slow_call; });
    EXPECT_EQ(trial.winner(), Contender::rondo);
}

TEST(Trial, the_shortest_way_counts_for_it) {
    Trial trial;
    trial.settle(Contender::rondo, 1.0F, 2.0F);
    std::int32_t& left = *trial.counter();
    while (--left >= 0) continue;
    EXPECT_TRUE(begins_again(trial));
    EXPECT_LT(left, 0);  // nobody goes the shortest way before it is over
}

// Calls of other lengths go on to be counted so, however many there are.
TEST(Trial, the_shortest_way_does_not_count_on_for_ever) {
    Trial trial;
    trial.settle(Contender::library, 2.0F, 1.0F);
    while (!begins_again(trial)) continue;
    *trial.counter() = std::numeric_limits<std::int32_t>::min();
    trial.count_call();
    EXPECT_EQ(trial.calls_left(), -1);
}

TEST(Trial, is_stuck_if_nobody_judges_it) {
    Trial trial;
    for (int call = 0; call < first_round; ++call) {
        EXPECT_FALSE(trial.is_stuck());
        trial.begin_call();
        trial.record(1);
    }
    EXPECT_TRUE(trial.is_stuck());
    trial.abandon();
    EXPECT_FALSE(trial.is_stuck());
    EXPECT_TRUE(trial.is_lost());
}

TEST(Trial, forgets_a_row_after_which_ranks_do_not_come_together) {
    Trial trial;
    const auto go_on = [&] {
        while (!trial.is_due()) {
            trial.begin_call();
            trial.record(trial.next() == Contender::rondo ? 500 : 1000);
        }
    };
    go_on();
    trial.judge(trial.times());
    go_on();
    trial.forget_row();
    EXPECT_FALSE(trial.is_stuck());
    EXPECT_TRUE(trial.is_in_row());
    EXPECT_TRUE(trial.needs_all_ranks());
    EXPECT_EQ(trial.timed_calls(), 0);
}

// The user's error handler frees the communicator in the middle of a call.
TEST(Trial, is_stuck_if_only_one_has_carried_out_a_call_of_both) {
    Trial trial({.rounding = true}, 8, nullptr);
    EXPECT_FALSE(trial.is_stuck());
    trial.begin_call();
    EXPECT_TRUE(trial.is_stuck());
    trial.begin_call();
    EXPECT_FALSE(trial.is_stuck());
}

TEST(Trial, may_wait_for_another_one) {
    Trial trial;
    trial.wait_for(3);
    for (int call = 0; call < 3; ++call) {
        EXPECT_FALSE(trial.times_next());
        EXPECT_EQ(trial.next(), Contender::library);
        trial.begin_call();
        EXPECT_FALSE(trial.is_due());
    }
    EXPECT_TRUE(trial.times_next());
}

TEST(Trial, changes_no_bits_before_the_next_run) {
    const TrialKey kind{.rounding = true};
    Trial trial(kind, 8, nullptr);
    trial.wait_for(1);
    EXPECT_EQ(trial.next(), Contender::rondo);
    trial.begin_call();
    while (!trial.is_over()) {
        for (const Contender contender : {Contender::library, Contender::rondo}) {  // whose result is left
            for (int call = 0, repetitions = trial.repetitions(); call < repetitions; ++call) {
                EXPECT_TRUE(trial.needs_all_ranks());
                EXPECT_EQ(trial.next(), contender);
                trial.begin_call();
                trial.record(contender == Contender::rondo ? 3000.0F : 1000.0F);
            }
        }
        if (trial.is_due()) trial.judge(trial.times());
    }
    EXPECT_TRUE(trial.is_over());
    EXPECT_EQ(trial.winner(), Contender::library);
    EXPECT_FALSE(trial.is_lost());
    EXPECT_EQ(trial.time_of(Contender::rondo), 3000);
    EXPECT_EQ(trial.time_of(Contender::library), 1000);

    Trial next_run(kind, 8, nullptr);
    next_run.settle(trial.winner(), 2.0F, 1.0F);
    EXPECT_TRUE(next_run.is_lost());
    Trial without_memory(kind, 8, nullptr);
    without_memory.abandon();
    EXPECT_FALSE(without_memory.is_lost());
}

TEST(Trial, goes_to_the_library_where_an_earlier_run_could_not_compare) {
    for (const bool rounding : {false, true}) {
        Trial trial({.rounding = rounding}, 8, nullptr);
        trial.begin_call();
        trial.record(1);
        trial.abandon();
        EXPECT_TRUE(trial.is_uncompared());
        EXPECT_EQ(trial.is_lost(), !rounding);  // bits stay in this run
        Trial next_run({.rounding = rounding}, 8, nullptr);
        next_run.settle_uncompared();
        EXPECT_TRUE(next_run.is_uncompared());
        EXPECT_TRUE(next_run.is_lost());
        for (int call = 0; call < 100000; ++call) ASSERT_FALSE(begins_again(next_run));
    }
}

TEST(Trial, keeps_its_verdict_if_nobody_comes_to_the_next_one) {
    Trial trial;
    run(trial, 2, [](Contender contender, int) { return contender == Contender::rondo ? 1.0F : 3.0F; });
    calls_until_revalidation(trial);
    trial.abandon();
    EXPECT_EQ(trial.winner(), Contender::rondo);
    EXPECT_FALSE(trial.is_uncompared());
}

TEST(Trial, is_about_lengths_that_take_as_long) {
    Trial trial({.collective = 1}, 1000, nullptr);
    EXPECT_TRUE(trial.compares_calls_of(1000));
    EXPECT_TRUE(trial.compares_calls_of(900));
    EXPECT_FALSE(trial.compares_calls_of(800));
    EXPECT_FALSE(trial.compares_calls_of(1200));
    EXPECT_EQ(trial.course_of(1000), Trial::Course::compared);
    EXPECT_EQ(trial.course_of(800), Trial::Course::rondo);
    trial.settle(Contender::library, 2, 1);
    EXPECT_EQ(trial.course_of(1000), Trial::Course::library);
    while (!begins_again(trial)) continue;
    EXPECT_EQ(trial.course_of(1000), Trial::Course::compared);
    EXPECT_EQ(trial.course_of(800), Trial::Course::library);  // the verdict stands until another one is there
}

}  // namespace
}  // namespace rondo::guard
