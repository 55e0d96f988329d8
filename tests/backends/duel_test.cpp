// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/duel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
int fight(Duel& verdict, int ranks, TimeOf&& time_of) {
    std::vector<Duel> duels(static_cast<std::size_t>(ranks));
    int calls = 0;
    for (; !duels[0].is_over(); ++calls) {
        Duel::Times slowest{};
        const Rival rival = duels[0].next();
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

TEST(Duel, gives_both_as_many_calls_and_as_many_first_ones) {
    Duel duel;
    for (int round = 0; round < Duel::most_rounds; ++round) {
        const Rival first = duel.next();
        EXPECT_EQ(first, round % 2 == 0 ? Rival::library : Rival::rondo);
        duel.begin();
        EXPECT_NE(duel.next(), first);
        duel.begin();
    }
}

TEST(Duel, is_over_early_if_all_calls_say_the_same) {
    Duel duel;
    constexpr int early = 2 * Duel::early_rounds, all = Duel::most_calls;
    EXPECT_EQ(fight(duel, 3, [](Rival rival, int) { return rival == Rival::rondo ? 3.0F : 1.0F; }), early);
    EXPECT_EQ(duel.winner(), Rival::library);
    EXPECT_EQ(fight(duel, 3, [](Rival rival, int) { return rival == Rival::rondo ? 1.0F : 3.0F; }), early);
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_EQ(fight(duel, 3, [](Rival rival, int) { return rival == Rival::rondo ? 1.05F : 1.0F; }), all);
    EXPECT_EQ(duel.winner(), Rival::library);
}

TEST(Duel, a_first_call_that_takes_long_decides_nothing) {
    Duel duel;
    int calls = 0;
    const int all = fight(duel, 1, [&](Rival rival, int) {
        return ++calls == 1 ? 1000.0F : rival == Rival::rondo ? 3.0F : 1.0F;
    });
    EXPECT_EQ(all, Duel::most_calls);
    EXPECT_EQ(duel.winner(), Rival::library);
}

TEST(Duel, the_slowest_rank_counts) {
    Duel duel;
    fight(duel, 4, [](Rival rival, int rank) { return rival == Rival::rondo && rank == 2 ? 2.0F : 1.0F; });
    EXPECT_EQ(duel.winner(), Rival::library);
}

// Every call is disturbed on some rank: it takes up to three times as long, one of eight ten times.
TEST(Duel, rarely_takes_the_slower_one_where_that_matters) {
    std::mt19937 random(20260101);
    std::uniform_real_distribution<float> share(0, 1);
    const auto disturbed = [&] { return share(random) < 0.125F ? 10.0F : 1 + 2 * share(random) * share(random); };
    double most_lost = 0;
    constexpr int trials = 2000;
    for (const float ratio : {1.05F, 1.2F, 1.5F, 2.0F, 4.0F}) {
        int wrong = 0;
        for (int trial = 0; trial < trials; ++trial) {
            Duel duel;
            fight(duel, 2, [&](Rival rival, int) { return disturbed() * (rival == Rival::rondo ? ratio : 1); });
            if (duel.winner() == Rival::rondo) ++wrong;
        }
        const double lost = double(wrong) / trials * (ratio - 1);  // of native, on average
        most_lost = std::max(most_lost, lost);
        EXPECT_LT(lost, 0.1) << ratio;
    }
    EXPECT_GT(most_lost, 0);  // it is noise
}

/// Calls after the verdict until it comes again.
int patience(Duel& duel) {
    for (int calls = 1;; ++calls) {
        if (duel.look_again()) return calls;
        EXPECT_TRUE(duel.is_over());
    }
}

TEST(Duel, comes_again_when_that_costs_little) {
    Duel duel;
    fight(duel, 2, [](Rival rival, int) { return rival == Rival::rondo ? 3.0F : 1.0F; });
    EXPECT_TRUE(duel.is_lost());
    const int first = patience(duel);
    EXPECT_GT(first, 1000);
    EXPECT_FALSE(duel.is_over());
    EXPECT_TRUE(duel.is_lost());  // what is not timed stays where it was
    EXPECT_EQ(duel.stand_in(), Rival::library);
    fight_on(duel, [](Rival rival, int) { return rival == Rival::rondo ? 3.0F : 1.0F; });
    EXPECT_TRUE(duel.is_lost());
    EXPECT_EQ(patience(duel), 2 * (first - 1) + 1);  // twice as many
    fight_on(duel, [](Rival rival, int) { return rival == Rival::rondo ? 1.0F : 3.0F; });
    EXPECT_FALSE(duel.is_lost());
    EXPECT_EQ(duel.winner(), Rival::rondo);
    EXPECT_EQ(patience(duel), first);  // it is news, and may be wrong
    fight_on(duel, [](Rival rival, int) { return rival == Rival::rondo ? 1.05F : 1.0F; });
    EXPECT_EQ(duel.winner(), Rival::rondo);                               // for a trifle nothing changes
    EXPECT_LT(duel.fastest(Rival::rondo), duel.fastest(Rival::library));  // nor in the next run, which knows these
}

TEST(Duel, waits_the_longer_the_slower_one_is_slow) {
    const auto calls_after = [](float slower) {
        Duel duel;
        duel.settle(Rival::library, slower, 1.0F);
        return patience(duel);
    };
    for (const float ratio : {1.0F, 2.0F, 10.0F, 1000.0F}) {
        EXPECT_GE(static_cast<float>(calls_after(ratio)), 100 * 2 * (ratio - 1));  // a hundredth of all calls' time
    }
}

/// What duels cost in so many calls, in calls of the faster rival, and what the first one does. `together`: what it
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
            duel.end(rival == Rival::rondo ? slower : 1);
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
        EXPECT_LE(cost.first, Duel::most_calls * 1.25 + Duel::most_rounds * double(slower - 1)) << slower;
        EXPECT_LT(cost.all, cost.first + calls / 400.0) << slower;        // there is less and less of it
        if (slower < 100) EXPECT_GT(cost.all, 2 * cost.first) << slower;  // it has come again
    }
}

TEST(Duel, goes_on_where_an_earlier_run_has_ended) {
    for (int before = 1; before < Duel::most_calls; ++before) {
        Duel duel({}, 8, nullptr);
        duel.resume(before, before > 1 ? 3.0F : 0.0F, 1.0F);
        EXPECT_EQ(duel.timed_calls(), before);
        int calls = before;
        for (; !duel.is_over(); ++calls) {
            const bool is_library = duel.next() == Rival::library;
            duel.begin();
            duel.end(is_library ? 1.0F : 3.0F);
            if (duel.is_due()) duel.judge(duel.times());
            ASSERT_LE(calls, Duel::most_calls);
        }
        EXPECT_EQ(calls, before < 2 * Duel::early_rounds ? 2 * Duel::early_rounds : Duel::most_calls) << before;
        EXPECT_EQ(duel.winner(), Rival::library);
        EXPECT_EQ(duel.fastest(Rival::rondo), 3);
        EXPECT_EQ(duel.fastest(Rival::library), 1);
    }
    Duel sum({.rounding = true}, 8, nullptr);
    sum.resume(3, 3.0F, 1.0F);  // nobody writes that: both carry out each call
    EXPECT_EQ(sum.timed_calls(), 2);
    sum.resume(Duel::most_calls + 1, 3.0F, 1.0F);
    EXPECT_EQ(sum.timed_calls(), Duel::most_calls - 2);  // there is room for two more
    Duel hasty({}, 8, nullptr);
    hasty.resume(3, 1.0F, 1.2F);  // Rondo's other call may have taken longer than the library's
    hasty.begin();
    hasty.end(1.2F);
    hasty.judge(hasty.times());
    EXPECT_FALSE(hasty.is_over());
    Duel unknown({}, 8, nullptr);
    unknown.resume(3, 0, 0);
    unknown.begin();
    unknown.end(1);
    unknown.judge(unknown.times());
    EXPECT_FALSE(unknown.is_over() && unknown.winner() == Rival::rondo);  // calls that took no time win nothing
}

TEST(Duel, of_long_calls_agrees_on_each) {
    Duel duel({}, Duel::long_call, nullptr);
    for (int call = 0; call < 2 * Duel::early_rounds - 1; ++call) {
        const bool is_library = duel.next() == Rival::library;
        duel.begin();
        duel.end(is_library ? 1.0F : 3.0F);
        EXPECT_TRUE(duel.is_worth_keeping()) << call;
        duel.judge(duel.times());
        EXPECT_FALSE(duel.is_over());
        EXPECT_EQ(duel.fastest(Rival::library), 1);
        EXPECT_EQ(duel.fastest(Rival::rondo), call == 0 ? 0 : 3);
    }
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
    for (int call = 0; call < Duel::most_calls; ++call) {
        EXPECT_FALSE(duel.is_stuck());
        duel.begin();
        duel.end(1);
    }
    EXPECT_TRUE(duel.is_stuck());
    duel.abandon();
    EXPECT_FALSE(duel.is_stuck());
    EXPECT_TRUE(duel.is_lost());
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
    for (int round = 0; round < Duel::most_rounds; ++round) {
        EXPECT_FALSE(duel.is_over()) << round;
        for (const Rival rival : {Rival::library, Rival::rondo}) {  // whose result is left
            EXPECT_EQ(duel.next(), rival);
            duel.begin();
            duel.end(rival == Rival::rondo ? 3.0F : 1.0F);
        }
        if (duel.is_due()) duel.judge(duel.times());
    }
    EXPECT_TRUE(duel.is_over());
    EXPECT_EQ(duel.winner(), Rival::library);
    EXPECT_FALSE(duel.is_lost());
    EXPECT_EQ(duel.fastest(Rival::rondo), 3);
    EXPECT_EQ(duel.fastest(Rival::library), 1);

    Duel next_run(kind, 8, nullptr);
    next_run.settle(duel.winner(), 2.0F, 1.0F);
    EXPECT_TRUE(next_run.is_lost());
    Duel without_memory(kind, 8, nullptr);
    without_memory.abandon();
    EXPECT_FALSE(without_memory.is_lost());
}

// Nobody looks at it again: short calls are worth twice as many before that.
TEST(Duel, takes_no_more_long_calls_than_are_enough_where_bits_depend_on_it) {
    for (const bool is_long : {false, true}) {
        Duel duel({.rounding = true}, Duel::long_call - (is_long ? 0 : 1), nullptr);
        int calls = 0;
        for (; !duel.is_over(); ++calls) {
            duel.begin();
            duel.end(calls == 1 ? 10.0F : 1.0F);  // Rondo's first is disturbed
            if (duel.is_due()) duel.judge(duel.times());
            EXPECT_EQ(duel.is_due(), duel.is_over()) << calls;  // else a run would go on where another has ended
            ASSERT_LT(calls, Duel::most_calls);
        }
        EXPECT_EQ(calls, is_long ? 2 * Duel::early_rounds : Duel::most_calls);
        EXPECT_EQ(duel.winner(), Rival::rondo);  // as fast
    }
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
