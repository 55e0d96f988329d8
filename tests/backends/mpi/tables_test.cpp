// SPDX-License-Identifier: BSD-3-Clause
// What remembers: tables of handles, decisions, plans and scratch memory.
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/mpi/decision.hpp"
#include "rondo/backends/mpi/handle_table.hpp"
#include "rondo/backends/mpi/plan_store.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {
namespace {

TEST(HandleTables, find_every_handle_that_was_added_and_no_other) {
    HandleTable<int, int, 16> table;
    for (int handle = 0; handle < 10; ++handle) table.add(handle * 0x10000, handle);
    for (int handle = 0; handle < 10; ++handle) {
        ASSERT_NE(table.find(handle * 0x10000), nullptr);
        EXPECT_EQ(*table.find(handle * 0x10000), handle);
    }
    EXPECT_EQ(table.find(7), nullptr);
}

TEST(HandleTables, the_first_entry_stays_and_entries_keep_their_order) {
    HandleTable<const char*, int, 8> table;
    const std::array<char, 3> handles{};
    table.add(&handles[2], 1);
    table.add(&handles[0], 2);
    table.add(&handles[2], 3);
    std::vector<int> visited;
    table.for_each([&](const char*, int facts) { visited.push_back(facts); });
    EXPECT_EQ(visited, (std::vector<int>{1, 2}));
}

// ---------------------------------------------------------------------------------------------------- decisions

CallKey key_of_length(Count bytes) { return {.collective = 1, .count = bytes, .element_bytes = 1}; }

TEST(DecisionTables, a_decision_holds_for_its_key_in_every_field) {
    Decisions decisions;
    std::uint32_t so_far = 0;
    const CallKey key{.choice = 1, .count = 10, .element_bytes = 4, .root = 2, .division = 5};
    decisions.put(key, {.reason = "mine"}, so_far);
    ASSERT_NE(decisions.find(key), nullptr);
    EXPECT_STREQ(decisions.find(key)->reason, "mine");
    std::vector<CallKey> others(9, key);
    others[0].choice = 2;
    others[1].commutative = true;
    others[2].in_place = true;
    others[3].over_int = true;
    others[4].compared = CallKey::Compared::choice;
    others[5].count = 11;
    others[6].element_bytes = 8;
    others[7].root = 1;
    others[8].division = 6;
    for (std::size_t field = 0; field < others.size(); ++field)
        EXPECT_EQ(decisions.find(others[field]), nullptr) << field;
}

TEST(DecisionTables, one_of_the_rules_for_lengths_holds_whatever_the_parts) {
    Decisions decisions;
    std::uint32_t so_far = 0;
    CallKey key = key_of_length(100);
    decisions.put(key, {.reason = "rules", .lowest = 50, .highest = 200}, so_far);
    key.root = 3;
    key.in_place = true;
    key.division = 17;
    for (const Count bytes : {50, 100, 200}) {
        key.count = bytes;
        EXPECT_NE(decisions.find(key), nullptr) << bytes;
    }
    for (const Count bytes : {49, 201}) {
        key.count = bytes;
        EXPECT_EQ(decisions.find(key), nullptr) << bytes;
    }
    key = key_of_length(25);
    key.element_bytes = 4;
    EXPECT_NE(decisions.find(key), nullptr) << "in bytes";
    key.commutative = true;
    EXPECT_EQ(decisions.find(key), nullptr);
    key = key_of_length(100);
    key.choice = 1;
    EXPECT_EQ(decisions.find(key), nullptr);
    key = key_of_length(100);
    key.over_int = true;
    EXPECT_EQ(decisions.find(key), nullptr) << "messages may not be possible";
}

TEST(DecisionTables, the_last_eight_are_kept) {
    Decisions decisions;
    std::uint32_t so_far = 0;
    for (Count bytes = 1; bytes <= 9; ++bytes) decisions.put(key_of_length(bytes), {}, so_far);
    EXPECT_EQ(decisions.find(key_of_length(1)), nullptr);
    for (Count bytes = 2; bytes <= 9; ++bytes) EXPECT_NE(decisions.find(key_of_length(bytes)), nullptr) << bytes;
}

TEST(DecisionTables, a_number_finds_its_decision_until_another_takes_the_place) {
    Decisions decisions;
    std::uint32_t so_far = 0;
    EXPECT_EQ(decisions.last_number(), 0);
    decisions.put(key_of_length(1), {.reason = "first"}, so_far);
    const std::uint32_t first = decisions.last_number();
    ASSERT_NE(first, 0);
    decisions.put(key_of_length(2), {.reason = "second"}, so_far);
    const std::uint32_t second = decisions.last_number();
    EXPECT_NE(first, second);
    EXPECT_STREQ(decisions.of_number(first)->reason, "first");
    EXPECT_STREQ(decisions.of_number(second)->reason, "second");
    decisions.find(key_of_length(1));
    EXPECT_EQ(decisions.last_number(), first);
    decisions.put(key_of_length(1), {.reason = "again"}, so_far);
    EXPECT_EQ(decisions.of_number(first), nullptr);
    EXPECT_STREQ(decisions.find(key_of_length(1))->reason, "again");
    so_far = ~std::uint32_t{0} / 8;  // of so many decisions, numbers begin anew, and none is 0
    for (Count bytes = 10; bytes < 30; ++bytes) {
        decisions.put(key_of_length(bytes), {}, so_far);
        EXPECT_NE(decisions.last_number(), 0);
    }
}

// -------------------------------------------------------------------------------------------------------- plans

std::shared_ptr<const Plan> scan_plan(SharedFacts facts, LocalFacts local = {}) {
    const Collective& scan = *find_collective("exscan");
    const AlgorithmInfo& algorithm = *scan.algorithm("two_op_doubling");
    return plan_of(Call(scan.facts(facts), local), algorithm, {});
}

TEST(PlanStores, give_the_same_plan_for_the_same_call_alone) {
    limit_plan_memory(std::size_t{1} << 20);
    const SharedFacts facts{.size = 4, .count = 10, .element_bytes = 4, .op = {true}};
    const auto plan = scan_plan(facts);
    EXPECT_EQ(scan_plan(facts), plan);
    std::vector<SharedFacts> others(4, facts);
    others[0].size = 5;
    others[1].count = 11;
    others[2].element_bytes = 8;
    others[3].op.commutative = false;
    for (const SharedFacts& other : others) EXPECT_NE(scan_plan(other), plan);
    EXPECT_NE(scan_plan(facts, {.rank = 1}), plan);
    EXPECT_NE(scan_plan(facts, {.in_place = true}), plan);
    const Collective& scan = *find_collective("exscan");
    EXPECT_NE(plan_of(Call(scan.facts(facts), {}), *scan.algorithm("one_doubling"), {}), plan);
}

TEST(PlanStores, tell_roots_settings_and_parts_apart) {
    limit_plan_memory(std::size_t{1} << 20);
    const Collective& bcast = *find_collective("bcast");
    const AlgorithmInfo& pipeline = *bcast.algorithm("linear_pipeline");
    const auto plan_for = [&](Rank root, Count segment) {
        const std::vector<Setting> settings{{"segment", segment}};
        return plan_of(Call(bcast.facts({.size = 3, .count = 64, .root = root}), {.in_place = true}, settings),
                       pipeline, settings);
    };
    const auto plan = plan_for(0, 16);
    EXPECT_EQ(plan_for(0, 16), plan);
    EXPECT_NE(plan_for(1, 16), plan);
    EXPECT_NE(plan_for(0, 32), plan);
    const Collective& gather = *find_collective("allgather");
    const AlgorithmInfo& ring = *gather.algorithm("bruck");
    const auto plan_of_parts = [&](const std::vector<Count>& starts) {
        return plan_of(Call(gather.facts({.size = 2, .count = 5, .starts = starts}), {}), ring, {});
    };
    EXPECT_EQ(plan_of_parts({0, 1, 5}), plan_of_parts({0, 1, 5}));
    EXPECT_NE(plan_of_parts({0, 1, 5}), plan_of_parts({0, 4, 5}));
}

TEST(PlanStores, forget_what_was_not_used_for_the_longest_time) {
    limit_plan_memory(0);
    const auto facts = [](Count count) { return SharedFacts{.size = 4, .count = count, .element_bytes = 4}; };
    const auto first = scan_plan(facts(1));
    EXPECT_EQ(scan_plan(facts(1)), first) << "the last one is always kept";
    scan_plan(facts(2));
    EXPECT_NE(scan_plan(facts(1)), first);
    limit_plan_memory(std::size_t{1} << 20);
    const auto second = scan_plan(facts(2));
    scan_plan(facts(3));
    EXPECT_EQ(scan_plan(facts(2)), second);
}

// ------------------------------------------------------------------------------------------------------ scratch

TEST(Scratches, what_was_given_back_is_taken_again) {
    Scratch scratch;
    scratch.take(100000);
    char* const first = scratch.bytes();
    ASSERT_NE(first, nullptr);
    scratch.give_back();
    Scratch other;
    other.take(90000);
    EXPECT_EQ(other.bytes(), first);
    scratch.take(90000);
    EXPECT_NE(scratch.bytes(), first) << "which somebody holds";
    other.give_back();
    scratch.give_back();
}

TEST(Scratches, a_short_piece_stays_with_who_has_used_it) {
    Scratch longer, one, other;
    longer.take(std::size_t{1} << 20);  // all shorter ones that are kept make room
    one.take(100);
    char* const piece = one.bytes();
    one.give_back();
    other.take(100);
    EXPECT_NE(other.bytes(), piece);
    one.take(50);
    EXPECT_EQ(one.bytes(), piece);
    for (Scratch* const each : {&longer, &one, &other}) each->give_back();
}

TEST(Scratches, memory_that_messages_may_still_use_is_nobodys) {
    Scratch scratch;
    scratch.take(100001);
    char* const left = scratch.bytes();
    scratch.abandon();
    EXPECT_EQ(scratch.bytes(), nullptr);
    std::vector<std::unique_ptr<Scratch>> others;
    for (int i = 0; i < 10; ++i) {
        others.push_back(std::make_unique<Scratch>());
        others.back()->take(100001);
        EXPECT_NE(others.back()->bytes(), left);
    }
    for (const auto& other : others) other->give_back();
    ::operator delete(left - 64, std::align_val_t{64});  // nothing is left of this test
}

TEST(Scratches, pieces_are_aligned_for_any_element) {
    Scratch scratch;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{5000}}) {
        scratch.take(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch.bytes()) % 64, 0);
        scratch.give_back();
    }
}

}  // namespace
}  // namespace rondo::mpi
