// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/trials.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>

namespace rondo::guard {
namespace {

constexpr TrialKey key{.collective = 3, .length = 10, .commutative = true};
Trial fresh() { return {key, 1000, nullptr}; }
const auto nothing = [] { return std::optional<Trial>(); };

Trial settled(Contender winner) {
    Trial trial = fresh();
    trial.settle(winner, winner == Contender::rondo ? 1 : 2, winner == Contender::rondo ? 2 : 1);
    return trial;
}

TEST(TrialTable, does_not_wait_after_a_few_timeouts) {
    TrialTable table({});
    for (int time = 0; time < TrialTable::most_timeouts; ++time) {
        EXPECT_TRUE(table.may_wait());
        table.count_timeout();
    }
    EXPECT_FALSE(table.may_wait());
}

TEST(TrialTable, keeps_keys_apart_until_there_are_too_many) {
    std::array<Trial, 24> places;
    TrialTable table(places);
    EXPECT_EQ(table.find(key, nullptr), nullptr);
    Trial* const trial = table.add(fresh());
    ASSERT_NE(trial, nullptr);
    EXPECT_EQ(table.find(key, nullptr), trial);
    for (const TrialKey& other : {TrialKey{4, key.length, true}, TrialKey{3, 11, true}, TrialKey{3, key.length, false},
                                  TrialKey{3, key.length, true, true}}) {
        EXPECT_EQ(table.find(other, nullptr), nullptr);
    }
    EXPECT_EQ(table.find(key, &table), nullptr);  // another choice
    std::size_t begun = 1;
    for (std::uint8_t other = 4; table.add({{.collective = other}, 8, nullptr}) != nullptr; ++other) ++begun;
    EXPECT_EQ(begun, places.size());
    EXPECT_EQ(table.find(key, nullptr), trial);
}

TEST(TrialTable, is_copied_with_its_places) {
    StoredTrials<2> first;
    first.table.add(fresh());
    const StoredTrials<2> second(first);
    first.table.find(key, nullptr)->abandon();
    ASSERT_NE(second.table.find(key, nullptr), nullptr);
    EXPECT_FALSE(second.table.find(key, nullptr)->is_over());
}

TEST(Trials, of_the_world_begin_at_once) {
    StoredTrials<2> world;
    Trials trials(world.table, nullptr, false);
    Trial* const trial = trials.join(fresh(), nothing);
    ASSERT_NE(trial, nullptr);
    EXPECT_TRUE(trial->times_next());
    EXPECT_EQ(trials.join(fresh(), nothing), trial);
}

TEST(Trials, of_a_part_wait_for_those_of_the_world) {
    StoredTrials<2> world, part;
    Trials trials(part.table, &world.table, false);
    Trial* const trial = trials.join(fresh(), nothing);
    EXPECT_FALSE(trial->times_next());
    world.table.add(fresh());
    EXPECT_FALSE(trials.join(fresh(), nothing)->is_over());
    *world.table.find(key, nullptr) = settled(Contender::library);
    EXPECT_EQ(trials.join(fresh(), nothing), trial);
    EXPECT_TRUE(trial->is_over() && trial->is_lost());
}

TEST(Trials, of_a_part_wait_for_no_verdict_about_another_choice) {
    StoredTrials<2> world, part;
    const int other_choice = 0;
    world.table.add({key, 1000, &other_choice});
    Trials trials(part.table, &world.table, false);
    EXPECT_TRUE(trials.join(fresh(), nothing)->times_next());
}

TEST(Trials, of_a_part_take_over_at_once_what_is_known) {
    StoredTrials<2> world, part;
    world.table.add(settled(Contender::library));
    Trials trials(part.table, &world.table, false);
    const Trial* const joined = trials.join(fresh(), nothing);
    EXPECT_TRUE(joined->is_over() && joined->is_lost());
}

TEST(Trials, of_a_part_on_one_node_wait_for_the_world_too) {
    StoredTrials<2> world, part;
    Trials trials(part.table, &world.table, true);
    const Trial* const joined = trials.join(Trial({.runs_ahead = true}, 8, nullptr), nothing);
    EXPECT_FALSE(joined->times_next() || joined->is_in_row());
}

TEST(Trials, of_a_part_revalidate_by_themselves) {
    StoredTrials<2> world, part;
    world.table.add(settled(Contender::library));
    Trials trials(part.table, &world.table, false);
    Trial* const trial = trials.join(fresh(), nothing);
    while (!trial->revalidates()) trial->count_call();
    EXPECT_TRUE(trials.join(fresh(), nothing)->revalidates());
}

TEST(Trials, know_best_what_an_earlier_run_has_found) {
    StoredTrials<2> world, part;
    world.table.add(settled(Contender::library));
    Trials trials(part.table, &world.table, false);
    const auto earlier = [] { return std::optional(settled(Contender::rondo)); };
    EXPECT_EQ(trials.join(fresh(), earlier)->winner(), Contender::rondo);
    EXPECT_EQ(trials.join(fresh(), nothing)->winner(), Contender::rondo);
}

TEST(Trials, of_a_part_do_not_wait_where_the_world_does_not) {
    StoredTrials<2> world, part, other;
    Trials trials(part.table, &world.table, false);
    for (int time = 0; time < TrialTable::most_timeouts; ++time) world.table.count_timeout();
    EXPECT_FALSE(trials.may_wait());
    EXPECT_TRUE(Trials(other.table, nullptr, false).may_wait());
}

TEST(Trials, are_none_where_there_are_too_many) {
    StoredTrials<0> full;
    Trials trials(full.table, nullptr, false);
    EXPECT_EQ(trials.join(fresh(), nothing), nullptr);
}

}  // namespace
}  // namespace rondo::guard
