// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {
namespace {

const SharedFacts four_ranks{.size = 4, .count = 10};

Schedule shift(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(send(call.input(), r + 1), receive(call.output(), r - 1));
    if (r > 0) co_yield combine(call.output(), call.input()).into(call.output());
}

/// `shift` among the ranks of the same parity, twice, between two copies.
Schedule on_parity(const Call& call) {
    const auto [r, p] = call.ranks();
    const RankMap group(r % 2, 2, p / 2);
    const Block inner = call.scratch();
    co_yield copy(call.input()).into(inner);
    const Call part = call.on(group, r / 2, inner, call.output());
    for (int i = 0; i < 2; ++i) {
        Schedule steps = shift(part);
        co_yield steps_of(steps);
    }
    co_yield copy(inner).into(call.output());
}

Schedule failing(const Call& call, bool at_once) {
    if (!at_once) co_yield copy(call.input()).into(call.output());
    throw Error("no such thing");
}

Schedule wrapping_failure(const Call& call) {
    Schedule steps = failing(call, false);
    co_yield steps_of(steps);
}

Schedule many_messages(const Call& call) {
    std::vector<Transfer> transfers;
    for (Rank peer = 0; peer < call.ranks().second; ++peer) transfers.push_back(send(call.input(), peer));
    co_yield exchange(transfers);
}

TEST(schedule, yields_steps_lazily_and_then_nothing) {
    const Call call(four_ranks, {.rank = 1});
    Schedule steps = shift(call);
    const Step* step = steps.next();
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->kind, StepKind::exchange);
    ASSERT_EQ(step->transfers.size(), 2U);
    EXPECT_EQ(step->peer(step->transfers[0]), 2);
    EXPECT_EQ(step->peer(step->transfers[1]), 0);
    step = steps.next();
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->kind, StepKind::combine);
    EXPECT_EQ(step->into, call.output());
    EXPECT_EQ(steps.next(), nullptr);
    EXPECT_EQ(steps.next(), nullptr);
}

TEST(schedule, has_no_peer_outside_the_group_and_no_message_without_elements) {
    const Call call(four_ranks, {.rank = 3});
    for (const Step& step : shift(call)) {
        if (step.kind != StepKind::exchange) continue;
        EXPECT_EQ(step.peer(step.transfers[0]), no_rank);
        EXPECT_EQ(step.peer(step.transfers[1]), 2);
        EXPECT_EQ(step.peer(receive(call.output().part(0, 0), 2)), no_rank);
    }
}

TEST(schedule, nests_and_numbers_peers_in_the_group_of_the_nested_call) {
    const Call call(four_ranks, {.rank = 1});
    std::vector<StepKind> kinds;
    for (const Step& step : on_parity(call)) {
        kinds.push_back(step.kind);
        if (step.kind != StepKind::exchange) continue;
        EXPECT_EQ(step.peer(step.transfers[0]), 3);        // the next odd rank
        EXPECT_EQ(step.peer(step.transfers[1]), no_rank);  // there is none before rank 1
    }
    EXPECT_EQ(kinds, (std::vector{StepKind::copy, StepKind::exchange, StepKind::exchange, StepKind::copy}));
}

TEST(schedule, hands_on_what_the_algorithm_throws_also_from_a_nested_one) {
    const Call call(four_ranks, {.rank = 0});
    Schedule at_once = failing(call, true);
    EXPECT_THROW(at_once.next(), Error);
    Schedule nested = wrapping_failure(call);
    EXPECT_NE(nested.next(), nullptr);
    EXPECT_THROW(nested.next(), Error);
    EXPECT_EQ(nested.next(), nullptr);
}

Schedule nests_what_it_has_read_from(const Call& call) {
    Schedule steps = shift(call);
    (void)steps.next();
    co_yield steps_of(steps);
}

TEST(schedule, refuses_to_nest_one_that_has_been_read_from) {
    const Call call(four_ranks, {.rank = 1});
    Schedule schedule = nests_what_it_has_read_from(call);
    EXPECT_THROW(schedule.next(), Error);
}

TEST(schedule, may_be_dropped_half_way) {
    const Call call(four_ranks, {.rank = 1});
    Schedule steps = on_parity(call);
    EXPECT_NE(steps.next(), nullptr);
    EXPECT_NE(steps.next(), nullptr);
}

TEST(schedule, holds_any_number_of_transfers_in_an_exchange) {
    const SharedFacts facts{.size = 100, .count = 3};
    const Call call(facts, {.rank = 0});
    Schedule steps = many_messages(call);
    EXPECT_EQ(steps.next()->transfers.size(), 100U);
}

TEST(call, keeps_scratch_blocks_apart_also_between_nested_calls) {
    const Call call(four_ranks, {.rank = 0});
    const Block first = call.scratch(), second = call.scratch(3);
    const Call part = call.on(RankMap(0, 1, 2), 0, first, call.output());
    const Block third = part.scratch();
    EXPECT_FALSE(overlap(first, second));
    EXPECT_FALSE(overlap(first, third));
    EXPECT_FALSE(overlap(second, third));
    EXPECT_EQ(call.scratch_used(), 23);
}

TEST(call, hands_scratch_out_again) {
    const Call call(four_ranks, {.rank = 0});
    const Count mark = call.scratch_mark();
    const Block first = call.scratch(5);
    call.reuse_scratch(mark);
    EXPECT_EQ(call.scratch(3), first.part(0, 3));
    EXPECT_EQ(call.scratch_used(), 5);
}

TEST(scratch_turns, begin_again_after_eight) {
    const Call call(four_ranks, {.rank = 0});
    (void)call.scratch(1);  // not theirs
    ScratchTurns turns(call);
    std::vector<Block> blocks;
    for (int i = 0; i < 20; ++i) {
        turns.next();
        blocks.push_back(call.scratch(7));
    }
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(blocks[i], blocks[i + 8]);
    EXPECT_EQ(call.scratch_used(), 1 + 8 * 7);
}

TEST(call, throws_on_a_parameter_that_the_algorithm_did_not_declare) {
    const Call call(four_ranks, {.rank = 0});
    EXPECT_THROW((void)call.setting("segment"), Error);
}

TEST(segments, differ_by_one_element_at_most_and_cover_the_block) {
    for (Count count = 0; count <= 40; ++count) {
        for (Count size = 1; size <= 45; ++size) {
            const Segments segments(Block(5, count, Buffer::output), size);
            Count next = 5;
            for (Count i = 0; i < segments.size(); ++i) {
                EXPECT_EQ(segments[i].first, next);
                EXPECT_LE(segments[i].count, size);
                EXPECT_LE(segments[i].count, segments.largest());
                EXPECT_GE(segments[i].count, segments.largest() - 1);
                EXPECT_FALSE(segments[i].empty());
                next = segments[i].last();
            }
            EXPECT_EQ(next, 5 + count);
        }
    }
}

TEST(rank_map, maps_strides_and_lists_and_nothing_else) {
    const RankMap backwards(7, -2, 4);
    EXPECT_EQ(backwards(0), 7);
    EXPECT_EQ(backwards(3), 1);
    EXPECT_EQ(backwards(4), no_rank);
    EXPECT_EQ(backwards(-1), no_rank);
    const Rank list[] = {5, 2, 9};
    const RankMap listed{std::span<const Rank>(list)};
    EXPECT_EQ(listed.size(), 3);
    EXPECT_EQ(listed(2), 9);
    EXPECT_EQ(listed(3), no_rank);
}

}  // namespace
}  // namespace rondo
