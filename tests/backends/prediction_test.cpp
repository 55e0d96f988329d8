// SPDX-License-Identifier: BSD-3-Clause
// What is run in place of the whole says what the whole takes.
#include "rondo/backends/virtual/prediction.hpp"

#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr CostModel costs = {.alpha = 2e-6,
                             .beta = 8e-11,
                             .gamma = 4e-11,
                             .overhead = 5e-7,
                             .eager = 64 << 10,
                             .rendezvous = 4e-6,
                             .fluid = true};
constexpr PredictionLimits little = {.whole = 1000, .messages = 6000};

struct Both {
    Prediction quick;
    double whole;
};

Both both(const char* collective, const char* name, const SharedFacts& call, Count segment,
          const PredictionLimits& limits = little) {
    const AlgorithmInfo& algorithm = *find_collective(collective)->algorithm(name);
    const SharedFacts facts = find_collective(collective)->facts(call);
    const auto settings = with_segment(algorithm.standard_settings(), segment);
    const Problem problem{algorithm, facts, settings};
    auto quick = Predictor::of(problem, limits);
    auto whole = Timing::of(problem);
    if (!quick || !whole) return {{0, Means::whole}, 0};
    return {quick->predict(costs), whole->time(costs, facts.element_bytes)};
}

TEST(prediction, runs_the_whole_of_short_calls) {
    const auto [quick, whole] = both("bcast", "binomial", {.size = 500, .count = 100, .element_bytes = 8}, 4096);
    EXPECT_EQ(quick.means, Means::whole);
    EXPECT_EQ(quick.seconds, whole);
    EXPECT_EQ(quick.change, 0);
}

/// Rounds in which messages take a latency, and all else nothing.
double rounds(const char* collective, const char* name, Rank size, const PredictionLimits& limits) {
    const AlgorithmInfo& algorithm = *find_collective(collective)->algorithm(name);
    const SharedFacts facts =
        find_collective(collective)->facts({.size = size, .count = size, .element_bytes = 8, .op = {true}});
    const auto settings = algorithm.standard_settings();
    auto predictor = Predictor::of({algorithm, facts, settings}, limits);
    return predictor ? predictor->predict({.alpha = 1, .fluid = true}).seconds : -1;
}

TEST(prediction, step_by_step_waits_for_every_round) {
    const PredictionLimits waiting = {.flight = step_by_step};
    EXPECT_EQ(rounds("allgather", "bruck", 5, {}), 2);  // the last round passes on what the first has brought
    EXPECT_EQ(rounds("allgather", "bruck", 5, waiting), 3);
    EXPECT_LE(rounds("reduce_scatter", "pairwise", 9, {}), 2);
    EXPECT_EQ(rounds("reduce_scatter", "pairwise", 9, waiting), 8);
    const PredictionLimits one_node = {.whole = 0, .messages = 6000, .flight = step_by_step};
    EXPECT_EQ(rounds("alltoall", "pairwise", 200, one_node), 199);
}

TEST(prediction, runs_one_node_for_all) {
    const auto [quick, whole] =
        both("allreduce", "ring", {.size = 64, .count = Count{64} * 40, .element_bytes = 8, .op = {true}}, 4096);
    EXPECT_EQ(quick.means, Means::one_node);
    EXPECT_EQ(quick.seconds, whole);
}

TEST(prediction, takes_parts_for_equal) {
    for (const Count more : {1, 20, 63}) {
        const auto [quick, whole] = both(
            "allreduce", "ring", {.size = 64, .count = Count{64} * 40 + more, .element_bytes = 8, .op = {true}}, 4096);
        EXPECT_EQ(quick.means, Means::equal_parts);
        EXPECT_GE(quick.seconds, whole * (1 - 1e-12));
        EXPECT_LE(quick.seconds, whole * 1.01);
    }
}

TEST(prediction, runs_few_segments_of_pipelines) {
    constexpr PredictionLimits some = {.whole = 1000, .messages = 60'000};
    const SharedFacts call{.size = 16, .count = 1 << 22, .element_bytes = 8, .op = {true}};
    for (const auto& [collective, name] :
         {std::pair("bcast", "linear_pipeline"), std::pair("reduce", "linear_pipeline"),
          std::pair("exscan", "linear_pipeline"), std::pair("bcast", "pipelined_binary_tree"),
          std::pair("bcast", "two_tree"), std::pair("allreduce", "two_tree"), std::pair("bcast", "circulant"),
          std::pair("reduce", "circulant")}) {
        const auto [quick, whole] = both(collective, name, call, 4096, some);
        EXPECT_EQ(quick.means, Means::few_segments) << collective << "/" << name;
        EXPECT_NEAR(quick.seconds, whole, (0.01 + quick.change) * whole) << collective << "/" << name;
    }
}

TEST(prediction, is_not_there_where_nothing_may_be_run) {
    const SharedFacts call{.size = 16, .count = 16, .op = {true}};
    EXPECT_EQ(both("bcast", "binomial", call, 4096, {.whole = 1, .messages = 3}).whole, 0);
    EXPECT_EQ(both("bcast", "binomial", call, 4096, {.whole = 0, .messages = 0}).whole, 0);
    EXPECT_EQ(both("bcast", "binomial", call, 4096, {.steps = 3}).whole, 0);
}

}  // namespace
}  // namespace rondo::virtual_machine
