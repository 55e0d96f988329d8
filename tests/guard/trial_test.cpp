// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace rondo::mpi {
namespace {

/// Ends a duel that comes again, on one rank.
template <class TimeOf>
void fight_on(Duel& duel, TimeOf&& time_of) {
    while (!duel.is_over()) {
        const Rival rival = duel.next();
        duel.begin();
        duel.end(time_of(rival, 0));
        if (duel.is_due()) duel.judge(duel.times());
    }
}

/// Calls until the duel is over, on ranks that measure `time_of(rival, rank)`. How many there were; the verdict is that
/// of all ranks.
template <class TimeOf>
int fight(Duel& verdict, int ranks, TimeOf&& time_of, const Duel& begun = {}) {
    std::vector<Duel> duels(static_cast<std::size_t>(ranks), begun);
    int calls = 0;
    for (; !duels[0].is_over(); ++calls) {
        Duel::Times slowest{};
        const Rival rival = duels[0].next();
        EXPECT_FALSE(duels[0].is_stuck() && duels[0].is_due()) << "call " << calls;
        for (int rank = 0; rank < ranks; ++rank) {
            Duel& duel = duels[static_cast<std::size_t>(rank)];
            EXPECT_EQ(duel.next(), rival) << "call " << calls;
            duel.begin();
            duel.end(time_of(rival, rank));
            std::ranges::transform(slowest, duel.times(), slowest.begin(),
                                   [](float a, float b) { return std::max(a, b); });
        }
        if (!duels[0].is_due()) continue;
        for (Duel& duel : duels) duel.judge(slowest);
    }
    for (const Duel& duel : duels) EXPECT_EQ(duel.winner(), duels[0].winner());
    verdict = duels[0];
    return calls;
}

constexpr float slow_call = 1e6F;  // as long as a disturbance lasts, in nanoseconds
constexpr int first_round = 2 * Duel::rounds.front();

TEST(Duel, gives_both_as_many_calls_and_as_many_first_ones) {
    Duel duel;
    for (int round = 0; round < Duel::rounds.back(); ++round) {
        const Rival first = duel.next();
        EXPECT_EQ(first, round % 2 == 0 ? Rival::library : Rival::rondo);
        duel.begin();
        EXPECT_NE(duel.next(), first);
        duel.begin();
    }
}

TEST(Duel, is_over_early_if_all_calls_say_the_same) {
    Duel duel;
    const auto rondo_takes = [](float ratio) {
        return [ratio](Rival rival, int) { return rival == Rival::rondo ? ratio * slow_call : slow_call; };
    };
    EXPECT_EQ(fight(duel, 3, rondo_takes(3)), first_round);
    EXPECT_EQ(duel.winner(), Rival::library);
    EXPECT_EQ(fight(duel, 3, rondo_takes(1 / 3.0F)), first_round);
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_EQ(fight(duel, 3, rondo_takes(1.08F)), 2 * Comparison::few);
    EXPECT_EQ(duel.winner(), Rival::library);
    EXPECT_EQ(fight(duel, 3, rondo_takes(100)), 2 * Comparison::few);  // two such calls may have been disturbed
    EXPECT_EQ(duel.winner(), Rival::library);
}

// Two calls of each were struck by one or two turns of the scheduler.
TEST(Duel, on_one_node_believes_in_no_milliseconds) {
    Duel begun;
    begun.distrust_few_calls();
    Duel duel;
    int calls = 0;
    fight(
        duel, 2,
        [&](Rival rival, int) {
            const bool is_rondo = rival == Rival::rondo;
            return ++calls <= 2 * first_round ? (is_rondo ? 8e6F : 4e6F) : is_rondo ? 500.0F : 1000.0F;
        },
        begun);
    EXPECT_EQ(duel.winner(), Rival::rondo);
}

TEST(Duel, without_a_difference_leaves_the_rules_what_they_have_chosen) {
    for (const float ratio : {0.97F, 1.0F, 1.03F}) {
        Duel duel;
        const int calls =
            fight(duel, 2, [&](Rival rival, int) { return rival == Rival::rondo ? ratio * slow_call : slow_call; });
        EXPECT_EQ(calls, first_round);
        EXPECT_EQ(duel.winner(), Rival::rondo);
        EXPECT_FLOAT_EQ(duel.time_of(Rival::rondo), duel.time_of(Rival::library));
        EXPECT_FALSE(duel.is_undecided());
    }
}

TEST(Duel, a_first_call_that_takes_long_decides_nothing) {
    for (const bool of_rondo : {false, true}) {
        Duel duel;
        int calls = 0;
        fight(duel, 1, [&](Rival rival, int) {
            const bool is_cold = ++calls == (of_rondo ? 2 : 1);
            return (is_cold ? 1000 : rival == Rival::rondo ? 3 : 1) * slow_call;
        });
        EXPECT_EQ(duel.winner(), Rival::library);
    }
}

TEST(Duel, the_slowest_rank_counts) {
    Duel duel;
    fight(duel, 4,
          [](Rival rival, int rank) { return rival == Rival::rondo && rank == 2 ? 2 * slow_call : slow_call; });
    EXPECT_EQ(duel.winner(), Rival::library);
}

// After the first call of all, in which pages are touched for the first time, each side gets faster for some calls.
TEST(Duel, compares_short_calls_when_they_are_warm) {
    Duel duel;
    std::array<int, 2> calls_of{};
    fight(duel, 1, [&](Rival rival, int) {
        const bool is_rondo = rival == Rival::rondo;
        const int call = calls_of[is_rondo ? 1 : 0]++;
        const float cold = call == 0 ? 1e5F : call < 8 ? (is_rondo ? 5e3F : 2e3F) : 0;
        return cold + (is_rondo ? 650.0F : 1300.0F);
    });
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_FLOAT_EQ(duel.time_of(Rival::rondo), 650);
    EXPECT_FLOAT_EQ(duel.time_of(Rival::library), 1300);
}

TEST(Duel, takes_short_calls_in_rows_for_which_ranks_come_together_once) {
    Duel duel;
    int together = 0, changes = 0;
    Rival before = duel.next();
    for (int call = 0; !duel.is_over(); ++call) {
        together += duel.needs_all_ranks() ? 1 : 0;
        EXPECT_EQ(duel.is_in_row(), call >= first_round);
        changes += duel.next() != before ? 1 : 0;
        before = duel.next();
        duel.begin();
        duel.end(duel.winner() == Rival::rondo ? 500 : 500);
        if (duel.is_due()) duel.judge(duel.times());
    }
    EXPECT_EQ(together, first_round + 1);
    EXPECT_EQ(duel.timed_calls(), Duel::most_calls);
    EXPECT_LT(changes, 8);
}

// Calls are disturbed as on a machine whose processors others use as well: by 1 to 10 ms, one of a hundred of them, one
// of ten, or half. tests/benchmarks/trial_benchmark.cpp shows more of it.
TEST(Duel, rarely_takes_the_slower_one_where_that_matters) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    constexpr int trials = 1000;
    for (const float undisturbed : {1e3F, 3e5F, 5e6F}) {
        for (const float frequency : {0.01F, 0.1F, 0.5F}) {
            for (const float ratio : {1.0F, 1.3F, 3.0F}) {
                int wrong = 0, right = 0;
                for (int trial = 0; trial < trials; ++trial) {
                    Duel duel;
                    fight(duel, 1, [&](Rival rival, int) {
                        const float jitter = 1 + 0.1F * share(random);
                        const float delay = share(random) < frequency ? 1e6F + 9e6F * share(random) : 0;
                        return undisturbed * jitter * (rival == Rival::rondo ? ratio : 1) + delay;
                    });
                    const bool is_alike = duel.time_of(Rival::rondo) == duel.time_of(Rival::library);
                    if (is_alike || duel.is_undecided()) continue;
                    (duel.winner() == Rival::library && ratio > 1 ? right : wrong) += 1;
                }
                EXPECT_LT(wrong, 0.03 * trials) << undisturbed << " " << frequency << " " << ratio;
                if (ratio > 1.2F) {
                    EXPECT_LT(wrong, 0.02 * trials) << undisturbed << " " << frequency << " " << ratio;
                    EXPECT_GT(right, 0.6 * trials) << undisturbed << " " << frequency << " " << ratio;
                }
            }
        }
    }
}

// Whatever the library does without Rondo is safe.
TEST(Duel, leaves_calls_to_the_library_where_nobody_can_tell) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    int undecided = 0;
    for (int trial = 0; trial < 200; ++trial) {
        for (const bool rounding : {false, true}) {
            Duel duel({.rounding = rounding}, 8, nullptr);
            fight(duel, 1, [&](Rival, int) { return std::pow(10.0F, 3 + 5 * share(random)); }, duel);
            if (!duel.is_undecided()) continue;
            ++undecided;
            EXPECT_EQ(duel.is_lost(), !rounding);
            EXPECT_FALSE(duel.is_uncompared());
        }
    }
    EXPECT_GT(undecided, 0);
}

/// Calls after the verdict until it comes again.
int patience(Duel& duel) {
    for (int calls = 1;; ++calls) {
        if (duel.look_again()) return calls;
        EXPECT_TRUE(duel.is_over());
    }
}

TEST(Duel, comes_again_when_that_costs_little) {
    const auto rondo_takes = [](float ratio) {
        return [ratio](Rival rival, int) { return rival == Rival::rondo ? ratio * slow_call : slow_call; };
    };
    Duel duel;
    fight(duel, 2, rondo_takes(3));
    EXPECT_TRUE(duel.is_lost());
    const int first = patience(duel);
    EXPECT_GT(first, 1000);
    EXPECT_FALSE(duel.is_over());
    EXPECT_TRUE(duel.is_lost());  // what is not timed stays where it was
    EXPECT_EQ(duel.stand_in(), Rival::library);
    fight_on(duel, rondo_takes(3));
    EXPECT_TRUE(duel.is_lost());
    EXPECT_EQ(patience(duel), 2 * (first - 1) + 1);  // twice as many
    fight_on(duel, rondo_takes(1 / 3.0F));
    EXPECT_FALSE(duel.is_lost());
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_EQ(patience(duel), first);  // it is news, and may be wrong
}

TEST(Duel, gives_up_what_today_s_calls_contradict) {
    Duel duel;
    duel.settle(Rival::library, 3525 * slow_call, slow_call);  // a call was disturbed
    while (!duel.look_again()) continue;
    fight_on(duel, [](Rival, int) { return slow_call; });
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_FLOAT_EQ(duel.time_of(Rival::rondo), duel.time_of(Rival::library));
}

TEST(Duel, keeps_what_it_knows_where_a_second_look_is_disturbed) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> share(0, 1);
    Duel duel;
    duel.settle(Rival::rondo, slow_call, 2 * slow_call);
    while (!duel.look_again()) continue;
    fight_on(duel, [&](Rival, int) { return slow_call * std::pow(10.0F, 3 * share(random)); });
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_FLOAT_EQ(duel.time_of(Rival::rondo), slow_call);
    EXPECT_FLOAT_EQ(duel.time_of(Rival::library), 2 * slow_call);
}

TEST(Duel, looks_early_at_short_calls) {
    Duel duel;
    duel.settle(Rival::library, 1300, 650);
    for (const std::int32_t calls : Duel::early_looks) {
        EXPECT_EQ(patience(duel), calls + 1);
        EXPECT_TRUE(duel.is_in_row());  // both are warm, and known to be short
        fight_on(duel, [](Rival rival, int) { return rival == Rival::rondo ? 1300.0F : 650.0F; });
        EXPECT_TRUE(duel.is_lost());
    }
    EXPECT_GT(patience(duel), 2000);
}

TEST(Duel, waits_the_longer_the_slower_one_is_slow) {
    const auto calls_after = [](float slower) {
        Duel duel;
        duel.settle(Rival::library, slower * slow_call, slow_call);
        return patience(duel);
    };
    for (const float ratio : {1.0F, 2.0F, 10.0F, 1000.0F}) {
        EXPECT_GE(static_cast<float>(calls_after(ratio)), 100 * 2 * (ratio - 1));  // a hundredth of all calls' time
    }
}

/// What duels about calls that are not short cost in so many calls, in calls of the faster rival, and what the first
/// one does. `together`: what it
/// costs that all ranks come together for a call, or agree.
struct Cost {
    double first = 0, all = 0;
};
Cost cost_of_duels(int calls, float slower, float together, const std::function<void(int, const Cost&)>& at_each) {
    Duel duel;
    Cost cost;
    bool is_first = true;
    for (int call = 1; call <= calls; ++call) {
        if (duel.is_over()) duel.look_again();
        if (!duel.is_over()) {
            const Rival rival = duel.next();
            duel.begin();
            duel.end((rival == Rival::rondo ? slower : 1) * slow_call);
            cost.all += together + (rival == Rival::rondo ? slower - 1 : 0);
            if (duel.is_due()) {
                cost.all += together;
                duel.judge(duel.times());
            }
        }
        if (is_first) cost.first = cost.all;
        is_first = is_first && !duel.is_over();
        at_each(call, cost);
    }
    return cost;
}

// The bound that docs/explanation/guard.md promises, at every call.
TEST(Duel, costs_no_more_than_the_first_one_and_a_hundredth) {
    constexpr int calls = 3'000'000;
    for (const float slower : {1.0F, 1.05F, 1.2F, 2.0F, 5.0F, 30.0F, 1000.0F}) {
        const Cost cost = cost_of_duels(calls, slower, 1, [&](int call, const Cost& so_far) {
            ASSERT_LE(so_far.all, so_far.first + call / 100.0) << slower << " after " << call;
        });
        EXPECT_LE(cost.first, 5 * double(slower - 1) + 14) << slower;
        EXPECT_LT(cost.all, cost.first + calls / 200.0) << slower;        // there is less and less of it
        if (slower < 100) EXPECT_GT(cost.all, 2 * cost.first) << slower;  // it has come again
    }
}

// Whatever the run ends after, it is as if it had not ended.
TEST(Duel, goes_on_where_an_earlier_run_has_ended) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> share(0, 1);
    for (const bool rounding : {false, true}) {
        std::array<float, Duel::most_calls> times{};
        for (float& time : times) time = slow_call * (1 + share(random));
        for (int before = 0; before <= 2 * Duel::rounds.back(); ++before) {
            Duel whole({.rounding = rounding}, Duel::long_call, nullptr);
            Duel first = whole, next = whole;
            const auto go_on = [&](Duel& duel, int calls) {
                while (!duel.is_over() && duel.timed_calls() < calls) {
                    const auto call = static_cast<std::size_t>(duel.timed_calls());
                    duel.begin();
                    duel.end(times[call]);
                    if (duel.is_due() || duel.is_worth_keeping()) duel.judge(duel.times());
                }
            };
            go_on(whole, Duel::most_calls);
            go_on(first, before);
            const int known = first.timed_calls();
            if (first.is_over() || (rounding && known % 2 != 0)) continue;
            next.resume(std::span(first.times()).first(static_cast<std::size_t>(known)));
            EXPECT_EQ(next.timed_calls(), known);
            EXPECT_FALSE(next.is_stuck());
            go_on(next, Duel::most_calls);
            EXPECT_EQ(next.winner(), whole.winner()) << before;
            EXPECT_EQ(next.timed_calls(), whole.timed_calls()) << before;
            EXPECT_EQ(next.time_of(Rival::rondo), whole.time_of(Rival::rondo)) << before;
        }
    }
    Duel sum({.rounding = true}, 8, nullptr);
    sum.resume(std::array{1.0F, 2.0F, 3.0F});  // nobody writes that: both carry out each call
    EXPECT_EQ(sum.timed_calls(), 2);
    const std::vector<float> too_many(100, 1.0F);
    Duel full;
    full.resume(too_many);
    EXPECT_EQ(full.timed_calls(), 0);
    EXPECT_FALSE(full.is_due());
}

TEST(Duel, of_long_calls_agrees_on_each) {
    Duel duel({}, Duel::long_call, nullptr);
    for (int call = 0; call < first_round; ++call) {
        EXPECT_FALSE(duel.is_over());
        const bool is_library = duel.next() == Rival::library;
        duel.begin();
        duel.end(is_library ? slow_call : 3 * slow_call);
        EXPECT_TRUE(duel.is_worth_keeping()) << call;
        duel.judge(duel.times());
    }
    EXPECT_TRUE(duel.is_over());
    Duel sum({.rounding = true}, Duel::long_call, nullptr);
    sum.begin();
    EXPECT_FALSE(sum.is_worth_keeping());  // Rondo's call follows at once
    sum.begin();
    EXPECT_TRUE(sum.is_worth_keeping());
    EXPECT_FALSE(Duel({}, Duel::long_call - 1, nullptr).is_worth_keeping());
}

TEST(Duel, never_comes_again_where_bits_depend_on_it) {
    Duel duel({.rounding = true}, 8, nullptr);
    duel.settle(Rival::library, 1.01F, 1.0F);
    for (int call = 0; call < 100000; ++call) ASSERT_FALSE(duel.look_again());
    EXPECT_TRUE(duel.is_lost());
}

TEST(Duel, the_shortest_way_counts_for_it) {
    Duel duel;
    duel.settle(Rival::rondo, 1.0F, 2.0F);
    std::int32_t& left = duel.calls_left();
    while (--left >= 0) continue;
    EXPECT_TRUE(duel.look_again());
    EXPECT_LT(left, 0);  // nobody goes the shortest way before it is over
}

TEST(Duel, is_stuck_if_nobody_judges_it) {
    Duel duel;
    for (int call = 0; call < first_round; ++call) {
        EXPECT_FALSE(duel.is_stuck());
        duel.begin();
        duel.end(1);
    }
    EXPECT_TRUE(duel.is_stuck());
    duel.abandon();
    EXPECT_FALSE(duel.is_stuck());
    EXPECT_TRUE(duel.is_lost());
}

TEST(Duel, forgets_a_row_after_which_ranks_do_not_come_together) {
    Duel duel;
    const auto go_on = [&] {
        while (!duel.is_due()) {
            duel.begin();
            duel.end(duel.next() == Rival::rondo ? 500 : 1000);
        }
    };
    go_on();
    duel.judge(duel.times());
    go_on();
    duel.forget_row();
    EXPECT_FALSE(duel.is_stuck());
    EXPECT_TRUE(duel.is_in_row());
    EXPECT_TRUE(duel.needs_all_ranks());
    EXPECT_EQ(duel.timed_calls(), 0);
}

// The user's error handler frees the communicator in the middle of a call.
TEST(Duel, is_stuck_if_only_one_has_carried_out_a_call_of_both) {
    Duel duel({.rounding = true}, 8, nullptr);
    EXPECT_FALSE(duel.is_stuck());
    duel.begin();
    EXPECT_TRUE(duel.is_stuck());
    duel.begin();
    EXPECT_FALSE(duel.is_stuck());
}

TEST(Duel, may_wait_for_another_one) {
    Duel duel;
    duel.wait_for(3);
    for (int call = 0; call < 3; ++call) {
        EXPECT_FALSE(duel.times_next());
        EXPECT_EQ(duel.next(), Rival::library);
        duel.begin();
        EXPECT_FALSE(duel.is_due());
    }
    EXPECT_TRUE(duel.times_next());
}

TEST(Duel, changes_no_bits_before_the_next_run) {
    const DuelKind kind{.rounding = true};
    Duel duel(kind, 8, nullptr);
    duel.wait_for(1);
    EXPECT_EQ(duel.next(), Rival::rondo);
    duel.begin();
    while (!duel.is_over()) {
        for (const Rival rival : {Rival::library, Rival::rondo}) {  // whose result is left
            for (int call = 0, repetitions = duel.repetitions(); call < repetitions; ++call) {
                EXPECT_TRUE(duel.needs_all_ranks());
                EXPECT_EQ(duel.next(), rival);
                duel.begin();
                duel.end(rival == Rival::rondo ? 3000.0F : 1000.0F);
            }
        }
        if (duel.is_due()) duel.judge(duel.times());
    }
    EXPECT_TRUE(duel.is_over());
    EXPECT_EQ(duel.winner(), Rival::library);
    EXPECT_FALSE(duel.is_lost());
    EXPECT_EQ(duel.time_of(Rival::rondo), 3000);
    EXPECT_EQ(duel.time_of(Rival::library), 1000);

    Duel next_run(kind, 8, nullptr);
    next_run.settle(duel.winner(), 2.0F, 1.0F);
    EXPECT_TRUE(next_run.is_lost());
    Duel without_memory(kind, 8, nullptr);
    without_memory.abandon();
    EXPECT_FALSE(without_memory.is_lost());
}

TEST(Duel, goes_to_the_library_where_an_earlier_run_could_not_compare) {
    for (const bool rounding : {false, true}) {
        Duel duel({.rounding = rounding}, 8, nullptr);
        duel.begin();
        duel.end(1);
        duel.abandon();
        EXPECT_TRUE(duel.is_uncompared());
        EXPECT_EQ(duel.is_lost(), !rounding);  // bits stay in this run
        Duel next_run({.rounding = rounding}, 8, nullptr);
        next_run.settle_uncompared();
        EXPECT_TRUE(next_run.is_uncompared());
        EXPECT_TRUE(next_run.is_lost());
        for (int call = 0; call < 100000; ++call) ASSERT_FALSE(next_run.look_again());
    }
}

TEST(Duel, keeps_its_verdict_if_nobody_comes_to_the_next_one) {
    Duel duel;
    fight(duel, 2, [](Rival rival, int) { return rival == Rival::rondo ? 1.0F : 3.0F; });
    patience(duel);
    duel.abandon();
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_FALSE(duel.is_uncompared());
}

TEST(Duels, lose_patience_after_a_few_times) {
    Duels duels({});
    for (int time = 0; time < Duels::most_waits_in_vain; ++time) {
        EXPECT_TRUE(duels.have_patience());
        duels.lose_patience();
    }
    EXPECT_FALSE(duels.have_patience());
}

TEST(Duel, is_about_lengths_that_take_as_long) {
    Duel duel({.collective = 1}, 1000, nullptr);
    EXPECT_TRUE(duel.times_calls_of(1000));
    EXPECT_TRUE(duel.times_calls_of(900));
    EXPECT_FALSE(duel.times_calls_of(800));
    EXPECT_FALSE(duel.times_calls_of(1200));
}

TEST(Duels, keep_kinds_apart_until_there_are_too_many) {
    std::array<Duel, 24> places;
    Duels duels(places);
    const DuelKind kind{.collective = 3, .length = 10, .commutative = true};
    EXPECT_EQ(duels.find(kind, nullptr), nullptr);
    Duel* const duel = duels.add({kind, 1000, nullptr});
    ASSERT_NE(duel, nullptr);
    EXPECT_EQ(duels.find(DuelKind(kind), nullptr), duel);
    for (const DuelKind& other : {DuelKind{4, kind.length, true}, DuelKind{3, 11, true},
                                  DuelKind{3, kind.length, false}, DuelKind{3, kind.length, true, true}}) {
        EXPECT_EQ(duels.find(other, nullptr), nullptr);
    }
    EXPECT_EQ(duels.find(kind, &duels), nullptr);  // another choice
    std::size_t begun = 1;
    for (std::uint8_t other = 4; duels.add({{.collective = other}, 8, nullptr}) != nullptr; ++other) ++begun;
    EXPECT_EQ(begun, places.size());
    EXPECT_EQ(duels.find(kind, nullptr), duel);
}

}  // namespace
}  // namespace rondo::mpi
