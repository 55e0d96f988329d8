// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"

namespace rondo::written {
namespace {

using testing::HasSubstr;

/// Steps of a thread block: "type source target" or, if they wait, "type source target block step".
struct BlockText {
    int send, receive;
    std::vector<std::vector<std::string>> steps;
};

/// An allreduce on two ranks in two chunks.
MscclProgram program(const std::vector<std::vector<BlockText>>& ranks, const char* in_place = "0") {
    std::string text =
        std::string("<algo name='t' coll='allreduce' ngpus='2' nchunksperloop='2' inplace='") + in_place + "'>";
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        text += "<gpu id='" + std::to_string(rank) + "' s_chunks='2'>";
        for (std::size_t block = 0; block < ranks[rank].size(); ++block) {
            const BlockText& found = ranks[rank][block];
            text += "<tb id='" + std::to_string(block) + "' send='" + std::to_string(found.send) + "' recv='" +
                    std::to_string(found.receive) + "' chan='" + std::to_string(block) + "'>";
            for (std::size_t step = 0; step < found.steps.size(); ++step) {
                const auto& words = found.steps[step];
                const bool waits = words.size() > 3;
                text += "<step s='" + std::to_string(step) + "' type='" + words[0] + "' srcbuf='" +
                        words[1].substr(0, 1) + "' srcoff='" + words[1].substr(1) + "' dstbuf='" +
                        words[2].substr(0, 1) + "' dstoff='" + words[2].substr(1) + "' cnt='1' depid='" +
                        (waits ? words[3] : "-1") + "' deps='" + (waits ? words[4] : "-1") + "' hasdep='1'/>";
            }
            text += "</tb>";
        }
        text += "</gpu>";
    }
    return read_msccl(text + "</algo>");
}

std::vector<StepKind> kinds_of(const WrittenRank& rank) {
    std::vector<StepKind> kinds;
    kinds.reserve(rank.steps.size());
    for (const WrittenStep& step : rank.steps) kinds.push_back(step.kind);
    return kinds;
}

std::string complaint(const MscclProgram& program) {
    try {
        Races races(program);
        in_rounds(program, &races);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

using enum StepKind;

TEST(rounds, messages_either_way_are_one_exchange_and_land_where_they_are_wanted) {
    const BlockText to_1 = {1, 1, {{"s", "i0", "o0"}, {"r", "i0", "o0"}}}, to_0 = {0, 0, to_1.steps};
    const WrittenSchedule schedule = in_rounds(program({{to_1}, {to_0}}));
    for (const WrittenRank& rank : schedule.ranks) {
        ASSERT_EQ(kinds_of(rank), (std::vector{exchange}));
        ASSERT_EQ(rank.steps[0].transfers.size(), 2U);
        EXPECT_EQ(rank.scratch, 2);  // MSCCL's own
    }
    EXPECT_EQ(schedule.ports(), 1);
    EXPECT_FALSE(schedule.reduces);
    EXPECT_FALSE(schedule.tolerates_in_place);
}

TEST(rounds, a_message_that_nobody_waits_for_yet_lands_in_scratch_memory) {
    const BlockText sends = {1, -1, {{"s", "i0", "o0"}, {"s", "i1", "o1"}}};
    const BlockText receives = {-1, 0, {{"cpy", "i0", "s0"}, {"rrc", "s0", "o0"}, {"r", "i1", "o1"}}};
    const WrittenSchedule schedule = in_rounds(program({{sends}, {receives}}));
    // Both leave at once. The first is combined with what is there, the second is copied to its place.
    EXPECT_EQ(kinds_of(schedule.ranks[0]), (std::vector{exchange}));
    EXPECT_EQ(kinds_of(schedule.ranks[1]), (std::vector{copy, exchange, combine, copy}));
    EXPECT_EQ(schedule.ranks[1].scratch, 4);
    EXPECT_EQ(schedule.ports(), 2);
    EXPECT_TRUE(schedule.reduces);
}

TEST(rounds, nothing_lands_on_what_is_being_sent) {
    const BlockText to_1 = {1, 1, {{"s", "o0", "o0"}, {"r", "o0", "o0"}}}, to_0 = {0, 0, to_1.steps};
    const WrittenSchedule schedule = in_rounds(program({{to_1}, {to_0}}));
    EXPECT_EQ(kinds_of(schedule.ranks[0]), (std::vector{exchange, copy}));
}

TEST(rounds, nothing_is_written_where_something_is_being_sent_from) {
    const BlockText to_1 = {1, -1, {{"s", "o0", "o0"}, {"cpy", "i0", "o0"}, {"s", "o0", "o1"}}};
    const BlockText from_0 = {-1, 0, {{"r", "o0", "o0"}, {"r", "o0", "o1"}}};
    const WrittenSchedule schedule = in_rounds(program({{to_1}, {from_0}}));
    EXPECT_EQ(kinds_of(schedule.ranks[0]), (std::vector{exchange, copy, exchange}));
    EXPECT_EQ(kinds_of(schedule.ranks[1]), (std::vector{exchange, exchange}));
}

TEST(rounds, where_input_and_output_are_one_the_input_is_copied_there_first) {
    const BlockText to_1 = {1, -1, {{"s", "i1", "i1"}}}, from_0 = {-1, 0, {{"rrc", "i1", "i1"}}};
    const WrittenSchedule schedule = in_rounds(program({{to_1}, {from_0}}, "1"));
    EXPECT_TRUE(schedule.tolerates_in_place);
    ASSERT_EQ(kinds_of(schedule.ranks[1]), (std::vector{copy, exchange, combine}));
    EXPECT_EQ(schedule.ranks[1].steps[0].into, Block(0, 2, Buffer::output));
    EXPECT_EQ(schedule.ranks[1].steps[2].into, Block(1, 1, Buffer::output));
}

TEST(rounds, an_input_that_is_written_to_is_copied) {
    const WrittenSchedule schedule = in_rounds(program({{{-1, -1, {{"re", "i0", "i1"}}}}, {}}));
    ASSERT_EQ(kinds_of(schedule.ranks[0]), (std::vector{copy, combine}));
    EXPECT_EQ(schedule.ranks[0].steps[1].into.buffer, Buffer::scratch);
    EXPECT_TRUE(schedule.ranks[1].steps.empty());
}

TEST(rounds, what_waits_for_ever_is_named) {
    const BlockText waits = {-1, -1, {{"cpy", "i0", "o0", "1", "0"}}},
                    waits_back = {-1, -1, {{"cpy", "i1", "o1", "0", "0"}}};
    EXPECT_EQ(complaint(program({{waits, waits_back}, {}})),
              "rank 0, thread block 0, step 0 (cpy): waits for ever for step 0 of thread block 1");
    EXPECT_EQ(complaint(program({{{-1, 1, {{"r", "i0", "o0"}}}}, {}})),
              "rank 0, thread block 0, step 0 (r): waits for ever for a message of rank 1 in channel 0");
    EXPECT_EQ(complaint(program({{{1, -1, {{"s", "i0", "o0"}}}}, {{-1, 0, {}}}})),
              "rank 0, thread block 0, step 0 (s): no step receives its message");
}

TEST(races, are_found_where_neither_step_waits_for_the_other) {
    const BlockText writes = {-1, -1, {{"cpy", "i0", "s0"}}};
    EXPECT_THAT(complaint(program({{writes, {-1, -1, {{"cpy", "s0", "o0"}}}}, {}})),
                HasSubstr("reads scratch[0, 1) (in chunks), while step 0 of thread block 0 may be using it"));
    EXPECT_THAT(complaint(program({{writes, writes}, {}})), HasSubstr("writes scratch[0, 1)"));
    EXPECT_THAT(complaint(program({{{-1, -1, {{"cpy", "s0", "o0"}}}, writes}, {}})), HasSubstr("writes scratch[0, 1)"));
    EXPECT_EQ(complaint(program({{writes, {-1, -1, {{"cpy", "s0", "o0", "0", "0"}}}}, {}})), "accepted");
    EXPECT_EQ(complaint(program({{writes, {-1, -1, {{"cpy", "s1", "o0"}}}}, {}})), "accepted");
}

TEST(races, are_none_where_messages_say_who_comes_first) {
    // Through rank 1 and back: what comes in thread block 1 was sent after the copy in thread block 0.
    const std::vector<BlockText> first = {{1, -1, {{"cpy", "i0", "s0"}, {"s", "i0", "s0"}}},
                                          {-1, 1, {{"r", "i0", "s1"}, {"cpy", "s0", "o0"}}}};
    const std::vector<BlockText> there = {{-1, 0, {{"r", "i0", "s0"}}}, {0, -1, {{"s", "s0", "s0", "0", "0"}}}};
    EXPECT_EQ(complaint(program({first, there})), "accepted");
    const std::vector<BlockText> too_early = {{-1, 0, {{"r", "i0", "s0"}}}, {0, -1, {{"s", "i0", "s0"}}}};
    EXPECT_THAT(complaint(program({first, too_early})),
                HasSubstr("rank 0, thread block 1, step 1 (cpy): reads scratch[0"));
}

}  // namespace
}  // namespace rondo::written
