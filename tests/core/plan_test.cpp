// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo {
namespace {

using testing::HasSubstr;

const SharedFacts facts{.size = 3, .count = 10};

Plan plan_of(Schedule (*algorithm)(const Call&), Rank rank = 1) {
    const Call call(facts, {.rank = rank});
    Schedule schedule = algorithm(call);
    return Plan::of(call, schedule);
}

std::string fault_of(Schedule (*algorithm)(const Call&)) {
    try {
        plan_of(algorithm);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

bool depends(const Plan& plan, std::uint32_t dependent, std::uint32_t on) {
    for (const std::uint32_t other : plan.dependents(on)) {
        if (other == dependent) return true;
    }
    return false;
}

Schedule chain(const Call& call) {
    const Block half = call.output().part(0, 5), rest = call.output().part(5, 5);
    co_yield exchange(receive(half, 0));                  // 0
    co_yield exchange(receive(rest, 0));                  // 1: other elements, same peer
    co_yield combine(half, rest).into(half);              // 2: reads both
    co_yield exchange(send(half, 2));                     // 3: reads what 2 wrote
    co_yield copy(call.input().part(0, 5)).into(half);    // 4: must not overtake the send
    co_yield exchange(send(call.input().part(0, 2), 2));  // 5: same peer as 3, needs nothing
}

/// Each of the four receives is to be combined; some cannot be on the way.
Schedule received_and_combined(const Call& call) {
    const Block own = call.input().part(0, 2), sum = call.output().part(0, 2);
    const Block first = call.scratch().part(0, 2), second = call.scratch().part(2, 2);
    const Block sent = call.scratch().part(4, 2), kept = call.output().part(5, 2);
    co_yield exchange(receive(first, 0));    // 0: all that the combine needs
    co_yield combine(first, own).into(sum);  // 1
    co_yield exchange(receive(second, 0));   // 2: half of it
    co_yield combine(second.part(0, 1), own.part(0, 1)).into(sum.part(0, 1));
    co_yield exchange(receive(sent, 0));  // 4: another action needs it, too
    co_yield combine(sent, own).into(sum);
    co_yield exchange(send(sent, 2));
    co_yield exchange(receive(kept, 0));  // 7: the caller sees it
    co_yield combine(kept, own).into(sum);
    co_yield exchange(receive(kept.part(0, 2), 0));  // 9: but not this: it is the result
    co_yield combine(own, kept).into(kept);
}

TEST(plan, knows_which_receives_can_be_combined_on_the_way) {
    const Plan plan = plan_of(received_and_combined);
    EXPECT_EQ(plan.sole_combine(0), 1U);
    EXPECT_EQ(plan.sole_combine(2), Action::none);
    EXPECT_EQ(plan.sole_combine(4), Action::none);
    EXPECT_EQ(plan.sole_combine(7), Action::none);
    EXPECT_EQ(plan.sole_combine(9), 10U);
    EXPECT_EQ(plan.longest_message(), 2);
}

TEST(plan, waits_for_true_dependencies_only) {
    const Plan plan = plan_of(chain);
    ASSERT_EQ(plan.actions().size(), 6U);
    EXPECT_EQ(plan.waits_for()[0], 0U);
    EXPECT_FALSE(depends(plan, 1, 0));
    EXPECT_TRUE(depends(plan, 2, 0));
    EXPECT_TRUE(depends(plan, 2, 1));
    EXPECT_TRUE(depends(plan, 3, 2));
    EXPECT_FALSE(depends(plan, 3, 1));
    EXPECT_TRUE(depends(plan, 4, 3));
    EXPECT_FALSE(depends(plan, 5, 4));
}

TEST(plan, keeps_the_blocks_of_local_work) {
    const Plan plan = plan_of(chain);
    const Action &combine = plan.actions()[2], &copy = plan.actions()[4];
    EXPECT_EQ(combine.kind, ActionKind::combine);
    EXPECT_EQ(combine.block, Block(0, 5, Buffer::output));
    EXPECT_EQ(plan.local_work(combine).right, Block(5, 5, Buffer::output));
    EXPECT_EQ(plan.local_work(combine).into, combine.block);
    EXPECT_EQ(copy.kind, ActionKind::copy);
    EXPECT_EQ(copy.block, Block(0, 5, Buffer::input));
    EXPECT_EQ(plan.local_work(copy).into, Block(0, 5, Buffer::output));
}

/// Every second element of the output goes to scratch, backwards, and from there to a peer.
Schedule copies_a_row(const Call& call) {
    const Block packed = call.scratch(4);
    co_yield exchange(receive(call.output().part(1, 1), 0));                                                 // 0
    co_yield exchange(receive(call.output().part(9, 1), 0));                                                 // 1
    co_yield copy(BlockRow(call.output().part(0, 1), 4, 2)).into(BlockRow(packed.part(3, 1), 4, -1));        // 2
    co_yield exchange(send(packed, 2));                                                                      // 3
    co_yield copy(BlockRow(call.input().part(0, 1), 0, 2)).into(BlockRow(call.output().part(0, 1), 0, -1));  // nothing
}

TEST(plan, takes_a_row_of_blocks_for_one_action_on_all_between_its_bounds) {
    const Plan plan = plan_of(copies_a_row);
    ASSERT_EQ(plan.actions().size(), 4U);
    const Action& copy = plan.actions()[2];
    EXPECT_EQ(plan.pieces(copy).from(copy.block)[3], Block(6, 1, Buffer::output));
    EXPECT_EQ(plan.pieces(copy).into(plan.local_work(copy).into)[3], Block(0, 1, Buffer::scratch));
    EXPECT_EQ(plan.pieces(copy).into(plan.local_work(copy).into).bounds(), Block(0, 4, Buffer::scratch));
    EXPECT_TRUE(depends(plan, 2, 0));  // between its blocks
    EXPECT_FALSE(depends(plan, 2, 1));
    EXPECT_TRUE(depends(plan, 3, 2));
}

Schedule copies_rows_of_other_lengths(const Call& call) {
    co_yield copy(BlockRow(call.input().part(0, 1), 3, 2)).into(BlockRow(call.output().part(0, 1), 2, 2));
}
Schedule copies_a_row_beyond_the_buffer(const Call& call) {
    co_yield copy(BlockRow(call.input().part(0, 1), 4, 3)).into(BlockRow(call.output().part(9, 1), 4, -3));
    co_yield copy(BlockRow(call.input().part(0, 1), 4, 3)).into(BlockRow(call.output().part(8, 1), 4, -3));
}
Schedule copies_blocks_over_each_other(const Call& call) {
    co_yield copy(BlockRow(call.input().part(0, 3), 2, 3)).into(BlockRow(call.output().part(0, 3), 2, 2));
}
Schedule copies_a_row_over_itself(const Call& call) {
    co_yield copy(BlockRow(call.output().part(0, 1), 2, 2)).into(BlockRow(call.output().part(1, 1), 2, 2));
}

TEST(plan, refuses_rows_that_contradict_their_contract) {
    EXPECT_THAT(fault_of(copies_rows_of_other_lengths), HasSubstr("a row to another of other length"));
    EXPECT_THAT(fault_of(copies_a_row_beyond_the_buffer), HasSubstr("step 1: output[-1, 9) is outside its buffer"));
    EXPECT_THAT(fault_of(copies_blocks_over_each_other), HasSubstr("blocks of the target row"));
    EXPECT_THAT(fault_of(copies_a_row_over_itself), HasSubstr("overlaps its source"));
}

TEST(plan, knows_what_may_start_at_once) {
    const Plan plan = plan_of(chain);
    EXPECT_THAT(plan.ready_at_once(), testing::ElementsAre(0U));
    const Plan weaker = plan.without_dependency(3, 4);
    EXPECT_THAT(weaker.ready_at_once(), testing::ElementsAre(0U, 4U));
    EXPECT_FALSE(depends(weaker, 4, 3));
    for (const std::uint32_t on : {0U, 1U}) EXPECT_TRUE(depends(weaker, 2, on));
    EXPECT_TRUE(depends(weaker, 3, 2));
    EXPECT_THROW((void)weaker.without_dependency(3, 4), Error);
}

Schedule sends_to_two_peers(const Call& call) {
    co_yield exchange(send(call.input().part(0, 1), 0));
    co_yield exchange(send(call.input().part(1, 1), 0));
    co_yield exchange(send(call.input().part(2, 1), 2));
}

TEST(plan, takes_36_bytes_for_a_transfer_and_4_for_a_link) {
    const Plan plan = plan_of(sends_to_two_peers);
    const std::size_t ready = plan.ready_at_once().size() * 4, end = sizeof(Action);
    EXPECT_EQ(plan.bytes(), sizeof(Plan) + 3 * (sizeof(Action) + 4) + ready + end);
}

/// Messages to and from all others, twice; to every 64th once more.
Schedule many_peers(const Call& call) {
    const auto [r, p] = call.ranks();
    for (const Rank stride : {Rank{1}, Rank{64}, Rank{1}}) {
        for (Rank peer = stride; peer < p; peer += stride) {
            const Block received = call.scratch(1);
            co_yield exchange(send(call.input().part(0, 1), peer), receive(received, peer));
        }
    }
}

TEST(plan, knows_the_message_before_also_where_there_are_thousands_of_peers) {
    const SharedFacts of_many{.size = 4096, .count = 1};
    const Call call(of_many, {.rank = 0});
    Schedule schedule = many_peers(call);
    const Plan plan = Plan::of(call, schedule);
    std::map<std::pair<Rank, ActionKind>, std::uint32_t> latest;
    std::vector<std::uint32_t> next(plan.actions().size(), Action::none);
    for (std::uint32_t each = 0; each < next.size(); ++each) {
        const Action& action = plan.actions()[each];
        const auto [before, is_first] = latest.try_emplace({action.peer, action.kind}, each);
        if (!is_first) next[std::exchange(before->second, each)] = each;
    }
    EXPECT_EQ(next.size(), 2U * (4095 + 63 + 4095));
    for (std::uint32_t each = 0; each < next.size(); ++each) ASSERT_EQ(plan.next_to_peer(each), next[each]);
}

TEST(plan, starts_messages_with_one_peer_in_the_order_of_the_schedule) {
    const Plan plan = plan_of(chain);
    EXPECT_EQ(plan.next_to_peer(0), 1U);
    EXPECT_EQ(plan.next_to_peer(3), 5U);
    EXPECT_EQ(plan.waits_for()[1], 1U);  // to be posted after action 0, not to be received after it
    EXPECT_EQ(plan.waits_for()[5], 1U);
}

Schedule nothing_happens(const Call& call) {
    co_yield exchange(send(call.input(), 3), receive(call.output(), -1));
    co_yield exchange(send(call.input().part(0, 0), 2));
    co_yield copy(call.output()).into(call.output());
    co_yield combine(call.input().part(0, 0), call.input().part(3, 0)).into(call.output().part(0, 0));
}

TEST(plan, drops_what_does_not_happen) { EXPECT_TRUE(plan_of(nothing_happens).actions().empty()); }

Schedule uses_the_second_of_three(const Call& call) {
    const Block blocks[] = {call.scratch(), call.scratch(), call.scratch()};
    co_yield copy(call.input()).into(blocks[1]);
}

TEST(plan, counts_the_scratch_that_it_addresses) { EXPECT_EQ(plan_of(uses_the_second_of_three).scratch(), 20); }

Schedule sends_what_it_receives(const Call& call) {
    co_yield exchange(send(call.output(), 2), receive(call.output().part(4, 2), 0));
}

Schedule receives_twice_into_one_place(const Call& call) {
    co_yield exchange(receive(call.output(), 0), receive(call.output().part(4, 2), 2));
}

Schedule writes_the_input(const Call& call) { co_yield exchange(receive(call.input(), 0)); }

Schedule combines_unequal_counts(const Call& call) {
    co_yield combine(call.input(), call.input().part(0, 3)).into(call.output());
}

Schedule overlaps_an_operand(const Call& call) {
    co_yield combine(call.output().part(0, 5), call.input().part(0, 5)).into(call.output().part(1, 5));
}

Schedule leaves_the_output(const Call& call) { co_yield exchange(receive(call.output().part(4, 7), 0)); }

Schedule leaves_the_input(const Call& call) { co_yield copy(call.input().part(-1, 3)).into(call.output().part(0, 3)); }

Schedule uses_scratch_that_it_was_not_given(const Call& call) {
    (void)call.scratch(3);
    co_yield copy(call.input().part(0, 2)).into(Block(2, 2, Buffer::scratch));
}

TEST(plan, refuses_blocks_outside_the_buffers) {
    EXPECT_THAT(fault_of(leaves_the_output), HasSubstr("step 0: output[4, 11) is outside its buffer"));
    EXPECT_THAT(fault_of(leaves_the_input), HasSubstr("input[-1, 2) is outside its buffer"));
    EXPECT_THAT(fault_of(uses_scratch_that_it_was_not_given), HasSubstr("scratch[2, 4) is outside its buffer"));
}

TEST(plan, refuses_steps_that_contradict_their_contract) {
    EXPECT_THAT(fault_of(sends_what_it_receives),
                HasSubstr("step 0: two transfers of one exchange need the same elements"));
    EXPECT_THAT(fault_of(receives_twice_into_one_place), HasSubstr("two transfers of one exchange"));
    EXPECT_THAT(fault_of(writes_the_input), HasSubstr("writes the input buffer input[0, 10)"));
    EXPECT_THAT(fault_of(combines_unequal_counts), HasSubstr("unequal counts"));
    EXPECT_THAT(fault_of(overlaps_an_operand),
                HasSubstr("the target output[1, 6) overlaps the operand output[0, 5) in part"));
}

Schedule five_receives_five_sends(const Call& call) {
    for (Count i = 0; i < 5; ++i) co_yield exchange(receive(call.output().part(i, 1), 0));
    for (Count i = 0; i < 5; ++i) co_yield exchange(send(call.input().part(i, 1), 2));
}

TEST(scoreboard, bounds_what_is_under_way_but_never_the_earliest_step) {
    const Plan plan = plan_of(five_receives_five_sends);
    Scoreboard board({.receives = 2, .sends = 1});
    board.start(plan, 1);
    EXPECT_EQ(board.next(), 0U);
    EXPECT_EQ(board.next(), 1U);
    EXPECT_EQ(board.next(), 5U);  // a send: no more than two receives
    EXPECT_EQ(board.next(), Action::none);
    board.complete(1);
    EXPECT_EQ(board.next(), 2U);
    EXPECT_EQ(board.next(), Action::none);

    Scoreboard none({.receives = 0, .sends = 0});
    none.start(plan, 1);
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(none.next(), i);
        EXPECT_EQ(none.next(), Action::none);
        none.complete(i);
    }
    EXPECT_TRUE(none.done());
}

TEST(scoreboard, lets_long_messages_with_other_peers_wait_their_turn) {
    const Plan plan = plan_of(sends_to_two_peers);
    const FlightLimits limits{.sends = 3, .competing_bytes = 1000};
    Scoreboard board(limits);
    board.start(plan, 1001);
    EXPECT_EQ(board.next(), 0U);
    EXPECT_EQ(board.next(), 1U);  // to the same peer: the order of arrival is theirs anyway
    EXPECT_EQ(board.next(), Action::none);
    board.complete(0);
    EXPECT_EQ(board.next(), Action::none);
    board.complete(1);
    EXPECT_EQ(board.next(), 2U);

    board.start(plan, 1000);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(board.next(), i);  // short ones overlap
}

TEST(scoreboard, lets_long_messages_inside_a_node_overlap) {
    const Placement one_node = Placement::regular(1, 3), last_alone = Placement::of(std::vector<Rank>{0, 0, 1});
    for (const Placement* placement : {&one_node, &last_alone}) {
        const Call call({.size = 3, .count = 10, .placement = placement}, {.rank = 1});
        Schedule schedule = sends_to_two_peers(call);
        const Plan plan = Plan::of(call, schedule);
        EXPECT_TRUE(plan.actions()[0].inside);
        EXPECT_EQ(plan.actions()[2].inside, placement == &one_node);
        Scoreboard board({.sends = 3, .competing_bytes = 1000});
        board.start(plan, 1001);
        EXPECT_EQ(board.next(), 0U);
        EXPECT_EQ(board.next(), 1U);
        EXPECT_EQ(board.next(), placement == &one_node ? 2U : Action::none);
    }
}

/// Only the combine is to be done while the first receive comes; the second waits for that one's sum.
Schedule sums_of_two(const Call& call) {
    const Block own = call.input().part(0, 2), sum = call.output().part(0, 2);
    const Block first = call.scratch().part(0, 2), second = call.scratch().part(2, 2);
    co_yield exchange(receive(first, 0));     // 0
    co_yield exchange(receive(second, 2));    // 1
    co_yield combine(first, own).into(sum);   // 2
    co_yield combine(sum, second).into(sum);  // 3
}

TEST(scoreboard, completes_claimed_work_with_what_it_waited_for) {
    const Plan plan = plan_of(sums_of_two);
    Scoreboard board;
    board.start(plan, 1);
    EXPECT_EQ(board.next_transfer(), 0U);
    EXPECT_EQ(board.next_transfer(), 1U);
    EXPECT_TRUE(board.claim(2));
    EXPECT_FALSE(board.claim(3));  // waits for two
    board.complete(0);
    EXPECT_FALSE(board.local_work_ready());
    EXPECT_TRUE(board.claim(3));  // for the second receive alone now
    board.complete(1);
    EXPECT_TRUE(board.done());
}

}  // namespace
}  // namespace rondo
