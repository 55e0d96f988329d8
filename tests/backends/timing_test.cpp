// SPDX-License-Identifier: BSD-3-Clause
// The times without data are those of the run with data, to the last bit.
#include "rondo/backends/virtual/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"
#include "tests/sanitized.hpp"

namespace rondo::virtual_machine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr CostModel cost_models[] = {{},
                                     {.alpha = 2e-3, .beta = 4e-8, .gamma = 1e-10, .overhead = 5e-5},
                                     {.alpha = 1e-6, .beta = 8e-11, .gamma = 3e-10, .overhead = 0},
                                     {.alpha = 0, .beta = 1, .gamma = 1, .overhead = 1}};

// Two classes of links, long messages that ask, and several lanes.
constexpr LinkCosts memory = {.alpha = 1e-4, .beta = 1e-8, .overhead = 2e-5};
constexpr CostModel node_cost_models[] = {
    {.alpha = 2e-3, .beta = 4e-6, .gamma = 1e-8, .overhead = 5e-5, .inside = memory},
    {.alpha = 2e-3, .beta = 4e-6, .inside = memory, .lanes = 3, .eager = 200, .rendezvous = 5e-3},
    {.alpha = 1, .beta = 1, .overhead = 1, .eager = 0},
    {.alpha = 2e-3, .beta = 4e-6, .inside = memory, .lanes = 3, .eager = 200, .rendezvous = 5e-3, .fluid = true}};

std::vector<const AlgorithmInfo*> all_algorithms() {
    std::vector<const AlgorithmInfo*> all;
    for (const Collective& collective : collectives()) {
        all.insert(all.end(), collective.algorithms.begin(), collective.algorithms.end());
    }
    return all;
}

std::vector<Setting> settings_of(const AlgorithmInfo& algorithm, Count segment) {
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name) setting.value = segment;
    }
    return settings;
}

std::string test_name(const testing::TestParamInfo<const AlgorithmInfo*>& info) {
    return std::string(info.param->collective) + "_" + std::string(info.param->name);
}

class EveryAlgorithm : public testing::TestWithParam<const AlgorithmInfo*> {};

TEST_P(EveryAlgorithm, takes_the_time_that_it_takes_with_data) {
    for (const Rank size : {1, 2, 3, 5, 8, 13, 32, 37}) {
        if (is_sanitized && size > 13) return;
        for (const Count count : {0, 1, 7, 500}) {
            const auto settings = settings_of(*GetParam(), count < 10 ? 8 : 100);
            const SharedFacts facts = find_collective(GetParam()->collective)
                                          ->facts({.size = size, .count = count, .element_bytes = 8, .op = {true}});
            if (GetParam()->refusal(facts, settings)) continue;
            for (const CostModel& costs : cost_models) {
                for (const FlightLimits& limits : {FlightLimits{}, FlightLimits{1, 1, 100}}) {
                    const Problem problem{*GetParam(), facts, settings};
                    DataflowOptions options;
                    options.costs = costs;
                    options.limits = limits;
                    EXPECT_EQ(time_of(*GetParam(), facts, settings, costs, limits), run_dataflow(problem, options).time)
                        << "p=" << size << " count=" << count << " alpha=" << costs.alpha;
                }
            }
        }
    }
}

TEST_P(EveryAlgorithm, takes_the_time_that_it_takes_with_data_on_nodes) {
    const Rank dealt_out[] = {0, 1, 2, 0, 1, 2, 0}, differing[] = {0, 0, 0, 0, 1, 2, 2, 2};
    const Placement placements[] = {Placement::regular(4, 3), Placement::regular(1, 5), Placement::of(dealt_out),
                                    Placement::of(differing)};
    for (const Placement& placement : placements) {
        const auto settings = settings_of(*GetParam(), 100);
        const SharedFacts facts = find_collective(GetParam()->collective)
                                      ->facts({.size = placement.size(),
                                               .count = 500,
                                               .element_bytes = 8,
                                               .op = {true},
                                               .placement = &placement});
        if (GetParam()->refusal(facts, settings)) continue;
        for (const CostModel& costs : node_cost_models) {
            DataflowOptions options;
            options.costs = costs;
            EXPECT_EQ(time_of(*GetParam(), facts, settings, costs),
                      run_dataflow(Problem{*GetParam(), facts, settings}, options).time)
                << placement.nodes() << " nodes, " << placement.size() << " ranks, alpha=" << costs.alpha;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn(all_algorithms()), test_name);

/// When each rank comes: irregular, but the same in every run.
std::vector<double> staggered(Rank size, double unit) {
    std::vector<double> ready;
    ready.reserve(static_cast<std::size_t>(size));
    for (Rank rank = 0; rank < size; ++rank) ready.push_back(unit * ((rank * 7 + 3) % 11));
    return ready;
}

TEST_P(EveryAlgorithm, takes_the_same_time_with_data_where_ranks_come_late) {
    for (const Rank size : {1, 2, 5, 8, 13, 32}) {
        const auto settings = settings_of(*GetParam(), 16);
        const SharedFacts facts = find_collective(GetParam()->collective)
                                      ->facts({.size = size, .count = 7, .element_bytes = 8, .op = {true}});
        if (GetParam()->refusal(facts, settings)) continue;
        const Problem problem{*GetParam(), facts, settings};
        for (const CostModel& costs : cost_models) {
            const auto ready = staggered(size, costs.alpha + costs.beta);
            const Outcome outcome = run_dataflow(problem, {.costs = costs, .ready = ready});
            auto timing = Timing::of(problem);
            ASSERT_TRUE(timing.has_value());
            const auto finishes = timing->finishes(costs, facts.element_bytes, ready);
            EXPECT_EQ(timing->time(costs, facts.element_bytes, ready), outcome.time) << "p=" << size;
            for (std::size_t rank = 0; rank < ready.size(); ++rank) {
                const auto& [sent, received, volume, operations, combined, time] = outcome.ranks[rank];
                EXPECT_EQ(finishes[rank].time, std::max(time, ready[rank])) << "p=" << size << " rank " << rank;
                EXPECT_GE(finishes[rank].time, ready[rank]);
            }
        }
    }
}

TEST(Timing, ranks_finish_late_because_of_the_rank_that_is_named) {
    constexpr CostModel costs{.alpha = 2e-3, .beta = 4e-8, .gamma = 1e-10, .overhead = 5e-5};
    constexpr double later = 1e-7;
    for (const AlgorithmInfo* algorithm : find_collective("exscan")->algorithms) {
        for (const Rank size : {2, 5, 8, 13}) {
            const auto settings = settings_of(*algorithm, 8);
            const SharedFacts facts{.size = size, .count = 1, .element_bytes = 8, .op = {true}};
            auto timing = Timing::of(Problem{*algorithm, facts, settings});
            ASSERT_TRUE(timing.has_value());
            auto ready = staggered(size, 1.1e-3);
            const auto before = timing->finishes(costs, 8, ready);
            for (Rank late = 0; late < size; ++late) {
                double& comes = ready[static_cast<std::size_t>(late)];
                comes += later;
                const auto after = timing->finishes(costs, 8, ready);
                comes -= later;
                for (std::size_t rank = 0; rank < before.size(); ++rank) {
                    const double delay = before[rank].due_to == late ? later : 0;
                    EXPECT_NEAR(after[rank].time - before[rank].time, delay, 1e-12)
                        << algorithm->name << " p=" << size << " rank " << rank << ", late " << late;
                }
            }
        }
    }
}

TEST(Timing, messages_that_are_there_before_a_rank_comes_do_not_wait_for_one_another) {
    const AlgorithmInfo& chain = *find_collective("exscan")->algorithm("linear_pipeline");
    const auto settings = settings_of(chain, 8);
    const SharedFacts facts{.size = 3, .count = 1, .element_bytes = 8};
    auto timing = Timing::of(Problem{chain, facts, settings});
    ASSERT_TRUE(timing.has_value());
    const double ready[] = {0, 10, 10.5};
    const auto finishes = timing->finishes({}, 8, ready);  // a message takes 1
    EXPECT_EQ(finishes[0].time, 0);
    EXPECT_EQ(finishes[1].time, 10);
    EXPECT_EQ(finishes[2].time, 11);
    EXPECT_EQ(finishes[2].due_to, 1);
}

TEST(Timing, refuses_times_at_which_no_rank_can_come) {
    const AlgorithmInfo& chain = *find_collective("exscan")->algorithm("linear_pipeline");
    const auto settings = settings_of(chain, 8);
    const SharedFacts facts{.size = 3, .count = 1, .element_bytes = 8};
    auto timing = Timing::of(Problem{chain, facts, settings});
    ASSERT_TRUE(timing.has_value());
    const double two[] = {0, 1}, negative[] = {0, -1, 0}, never[] = {0, 0, std::numeric_limits<double>::infinity()};
    EXPECT_THROW((void)timing->finishes({}, 8, two), Error);
    EXPECT_THROW((void)timing->finishes({}, 8, negative), Error);
    EXPECT_THROW((void)timing->finishes({}, 8, never), Error);
}

TEST(Timing, plans_serve_for_elements_of_every_length) {
    const AlgorithmInfo& pipeline = *find_collective("exscan")->algorithm("linear_pipeline");
    const SharedFacts unit{.size = 6, .count = 20, .element_bytes = 1};
    const auto unit_settings = settings_of(pipeline, 1);
    auto timing = Timing::of(Problem{pipeline, unit, unit_settings});
    ASSERT_TRUE(timing.has_value());
    for (const Count bytes : {8, 4096, 100'000, 8}) {
        const SharedFacts facts{.size = 6, .count = 20 * bytes, .element_bytes = 1};
        EXPECT_EQ(timing->time(cost_models[1], bytes),
                  time_of(pipeline, facts, settings_of(pipeline, bytes), cost_models[1]));
    }
    EXPECT_EQ(timing->messages(), 100);
}

TEST(Timing, more_messages_than_allowed_are_not_timed) {
    const AlgorithmInfo& pipeline = *find_collective("exscan")->algorithm("linear_pipeline");
    const SharedFacts facts{.size = 6, .count = 20, .element_bytes = 1};
    const auto settings = settings_of(pipeline, 1);
    EXPECT_TRUE(Timing::of(Problem{pipeline, facts, settings}, {}, 100).has_value());
    EXPECT_FALSE(Timing::of(Problem{pipeline, facts, settings}, {}, 99).has_value());
}

std::string fault_of(Schedule (*generator)(const Call&)) {
    const AlgorithmInfo faulty{.collective = "exscan", .name = "faulty", .schedule = generator};
    try {
        time_of(faulty, {.size = 3, .count = 10, .element_bytes = 8}, {}, {});
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

Schedule nobody_receives(const Call& call) {
    if (call.ranks().first == 1) co_yield exchange(send(call.input(), 2));
}

Schedule nobody_sends(const Call& call) {
    if (call.ranks().first == 1) co_yield exchange(receive(call.output(), 2));
}

Schedule truncates(const Call& call) {
    const Rank r = call.ranks().first;
    co_yield exchange(send(call.input(), r + 1), receive(call.output().part(0, 9), r - 1));
}

/// Each waits for what the other sends only then.
Schedule waits_in_a_circle(const Call& call) {
    const Rank r = call.ranks().first;
    if (r == 2) co_return;
    co_yield exchange(receive(call.output(), 1 - r));
    co_yield exchange(send(call.output(), 1 - r));
}

TEST(Timing, finds_what_would_never_end) {
    EXPECT_THAT(fault_of(nobody_receives), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("no counterpart")));
    EXPECT_THAT(fault_of(nobody_sends), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("no counterpart")));
    EXPECT_THAT(fault_of(truncates), HasSubstr("no counterpart of the same count"));
    EXPECT_THAT(fault_of(waits_in_a_circle), AllOf(HasSubstr("rank 0, step 0"), HasSubstr("deadlock")));
}

}  // namespace
}  // namespace rondo::virtual_machine
