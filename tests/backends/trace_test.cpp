// SPDX-License-Identifier: BSD-3-Clause
// What is written down about a run is what happens in it.
#include "rondo/backends/virtual/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::virtual_machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const AlgorithmInfo& algorithm(std::string_view collective, std::string_view name) {
    return *find_collective(collective)->algorithm(name);
}

/// "0: 1->2 V1": in round 0, rank 1 sends rank 2 its own input.
std::vector<std::string> texts_of(const std::vector<MessageEvent>& messages) {
    std::vector<std::string> texts;
    for (const MessageEvent& event : messages) {
        texts.push_back(std::to_string(static_cast<int>(event.start)) + ": " + std::to_string(event.from) + "->" +
                        std::to_string(event.to) + " " + event.data.at(0).symbol.text());
        EXPECT_EQ(event.end, event.start + 1);
    }
    return texts;
}

TEST(trace, shows_what_123_doubling_sends_and_combines) {
    const Problem problem{algorithm("exscan", "doubling_123"), {.size = 5, .count = 10, .element_bytes = 8}, {}};
    const Trace run = trace(problem);
    EXPECT_EQ(run.outcome.time, 3);
    EXPECT_THAT(texts_of(run.messages), ElementsAre("0: 0->1 V0", "0: 1->2 V1", "0: 2->3 V2", "0: 3->4 V3",
                                                    "1: 0->2 V0", "1: 1->3 V0..V1", "1: 2->4 V1..V2", "2: 1->4 V0"));
    const MessageEvent& last = run.messages.back();
    EXPECT_EQ(last.source, Block(0, 10, Buffer::output));
    EXPECT_EQ(last.target.buffer, Buffer::scratch);

    std::vector<std::string> combined;
    for (const LocalEvent& event : run.locals) {
        ASSERT_EQ(event.kind, ActionKind::combine);
        EXPECT_EQ(event.start, event.end);
        combined.push_back(std::to_string(static_cast<int>(event.end)) + ": " + std::to_string(event.rank) + " " +
                           event.data.at(0).symbol.text());
    }
    EXPECT_THAT(combined,
                ElementsAre("1: 1 V0..V1", "1: 2 V1..V2", "2: 2 V0..V1", "2: 3 V0..V2", "2: 4 V1..V3", "3: 4 V0..V3"));
}

TEST(trace, knows_the_place_in_the_vector_of_what_stands_in_scratch) {
    const std::vector<Setting> settings = {{"segment", 24}};  // 3 elements
    const Problem problem{
        algorithm("scan", "linear_pipeline"), {.size = 3, .count = 9, .element_bytes = 8}, settings, false};
    std::map<std::pair<Rank, double>, Count> places;
    for (const MessageEvent& event : trace(problem).messages) {
        const Piece& piece = event.data.at(0);
        places[{event.from, event.start}] = piece.offset + piece.symbol.shift();
        EXPECT_EQ(piece.count, 3);
    }
    const std::map<std::pair<Rank, double>, Count> expected = {{{0, 0}, 0}, {{0, 1}, 3}, {{0, 2}, 6},
                                                               {{1, 1}, 0}, {{1, 2}, 3}, {{1, 3}, 6}};
    EXPECT_EQ(places, expected);
}

TEST(trace, says_in_overlapped_time_when_a_message_leaves_and_when_it_has_arrived) {
    const std::vector<Setting> settings = {{"segment", 8}};
    const CostModel costs{.alpha = 10, .beta = 1, .gamma = 0.5, .overhead = 0};
    const Problem problem{algorithm("scan", "linear_pipeline"), {.size = 2, .count = 2, .element_bytes = 8}, settings};
    const Trace run = trace(problem, {.execution = Execution::overlapped, .costs = costs});
    ASSERT_EQ(run.messages.size(), 2U);
    EXPECT_EQ(run.messages[0].start, 0);  // 8 bytes on the wire, one message behind the other
    EXPECT_EQ(run.messages[0].end, 18);
    EXPECT_EQ(run.messages[1].start, 8);
    EXPECT_EQ(run.messages[1].end, 26);
    const LocalEvent& last = run.locals.back();
    EXPECT_EQ(last.kind, ActionKind::combine);
    EXPECT_EQ(last.start, 26);
    EXPECT_EQ(last.end, 30);
    EXPECT_EQ(run.outcome.time, 30);
}

/// What the events say, counted per rank, is the outcome; and observing changes nothing.
void expect_agreement(const Trace& run, const Outcome& unobserved) {
    std::vector<RankCounts> counts(run.outcome.ranks.size());
    const auto of = [&](Rank rank) -> RankCounts& { return counts[static_cast<std::size_t>(rank)]; };
    for (const MessageEvent& event : run.messages) {
        ++of(event.from).sent;
        ++of(event.to).received;
        of(event.from).volume += event.source.count;
        EXPECT_LE(event.start, event.end);
        EXPECT_LE(event.end, run.outcome.time);
    }
    for (const LocalEvent& event : run.locals) {
        if (event.kind != ActionKind::combine) continue;
        ++of(event.rank).operations;
        of(event.rank).combined += event.into.count;
    }
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        for (const Outcome& outcome : {run.outcome, unobserved}) {
            EXPECT_EQ(counts[rank].sent, outcome.ranks[rank].sent);
            EXPECT_EQ(counts[rank].received, outcome.ranks[rank].received);
            EXPECT_EQ(counts[rank].volume, outcome.ranks[rank].volume);
            EXPECT_EQ(counts[rank].operations, outcome.ranks[rank].operations);
            EXPECT_EQ(counts[rank].combined, outcome.ranks[rank].combined);
        }
    }
    EXPECT_EQ(run.outcome.time, unobserved.time);
}

TEST(trace, agrees_with_the_counts_for_every_algorithm) {
    const CostModel costs{.alpha = 3, .beta = 0.25, .gamma = 0.125, .overhead = 0.5};
    for (const AlgorithmInfo* each : conformance::all_algorithms()) {
        for (const Rank size : {1, 2, 7, 12}) {
            conformance::for_each_case(*each, size, 30, [&](const Problem& problem) {
                if (problem.facts.count > 7 || problem.facts.root > 1) return;
                expect_agreement(trace(problem), run_lock_step(problem));
                expect_agreement(trace(problem, {.execution = Execution::overlapped, .costs = costs}),
                                 run_dataflow(problem, {.costs = costs}));
            });
        }
    }
}

std::string fault_of(const Problem& problem, const TraceOptions& options = {}) {
    try {
        trace(problem, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(trace, stops_at_the_limit_and_names_no_rank) {
    const Problem problem{algorithm("exscan", "doubling_123"), {.size = 5, .count = 10, .element_bytes = 8}, {}};
    EXPECT_EQ(fault_of(problem, {.most_messages = 8}), "none");
    EXPECT_THAT(fault_of(problem, {.most_messages = 7}), testing::StartsWith("more than 7 messages; "));
    EXPECT_THAT(fault_of(problem, {.execution = Execution::overlapped, .most_messages = 7}),
                testing::StartsWith("more than 7 messages; "));
}

TEST(trace, gives_the_reason_of_a_refusal) {
    const std::vector<Setting> settings = {{"segment", 1}};
    const SharedFacts facts{.size = 2, .count = Count{1} << 20, .element_bytes = 1};
    EXPECT_THAT(fault_of({algorithm("scan", "linear_pipeline"), facts, settings}),
                HasSubstr("linear_pipeline refuses: segment=1 cuts 1048576 bytes"));
}

}  // namespace
}  // namespace rondo::virtual_machine
