// SPDX-License-Identifier: BSD-3-Clause
// The chosen segment against all others, each run whole.
#include "rondo/backends/virtual/segment_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/pipeline.hpp"
#include "tests/sanitized.hpp"

namespace rondo::virtual_machine {
namespace {

// An emulated cluster, and a fast network.
constexpr CostModel slow = {.alpha = 2e-3,
                            .beta = 4e-8,
                            .gamma = 1e-10,
                            .overhead = 5e-5,
                            .inside = LinkCosts{.alpha = 5e-6, .beta = 2e-10, .overhead = 2e-6}};
constexpr CostModel fast = {.alpha = 2e-6,
                            .beta = 8e-11,
                            .gamma = 4e-11,
                            .overhead = 5e-7,
                            .inside = LinkCosts{.alpha = 3e-7, .beta = 1e-10, .overhead = 1e-7}};

/// A question and an answer beyond the limit.
CostModel with_eager_limit(CostModel costs, Count bytes) {
    costs.eager = bytes;
    costs.rendezvous = 2 * costs.alpha;
    return costs;
}

SharedFacts facts_of(Rank size, Count bytes) {
    return {.size = size, .count = bytes / 8, .element_bytes = 8, .op = {true}};
}

Count segment_of(std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.name == segment_parameter.name) return setting.value;
    }
    return -1;
}

double whole_time(const AlgorithmInfo& algorithm, const SharedFacts& facts, Count segment, const CostModel& costs) {
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name) setting.value = segment;
    }
    return time_of(algorithm, facts, settings, costs);
}

std::vector<const AlgorithmInfo*> pipelined_algorithms() {
    std::vector<const AlgorithmInfo*> all;
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* info : collective.algorithms) {
            if (info->parameter(segment_parameter.name) != nullptr) all.push_back(info);
        }
    }
    return all;
}

std::string test_name(const testing::TestParamInfo<const AlgorithmInfo*>& info) {
    return std::string(info.param->collective) + "_" + std::string(info.param->name);
}

class EveryPipeline : public testing::TestWithParam<const AlgorithmInfo*> {
  protected:
    SharedFacts facts_of(Rank size, Count bytes) {
        return find_collective(GetParam()->collective)->facts(virtual_machine::facts_of(size, bytes));
    }
    /// Consecutive ranks on every node; the last one has what is left.
    SharedFacts facts_of(Rank size, Count bytes, Rank on_node) {
        std::vector<Rank> nodes;
        nodes.reserve(static_cast<std::size_t>(size));
        for (Rank rank = 0; rank < size; ++rank) nodes.push_back(rank / on_node);
        placement_ = Placement::of(nodes);
        SharedFacts facts = facts_of(size, bytes);
        facts.placement = &placement_;
        return facts;
    }
    /// Compositions are for nodes of several ranks; others do not ask.
    static std::vector<Rank> ranks_on_nodes() {
        return is_composition() ? std::vector<Rank>{2, 4, 8} : std::vector<Rank>{1};
    }
    /// How much longer the chosen segment takes than the best one.
    static double regret(const SharedFacts& facts, const CostModel& costs) {
        const SegmentTime choice = best_segment(*GetParam(), facts, GetParam()->open_settings(), costs);
        double best = std::numeric_limits<double>::max();
        for (const Count segment : candidate_segments(*GetParam(), facts)) {
            best = std::min(best, whole_time(*GetParam(), facts, segment, costs));
        }
        return whole_time(*GetParam(), facts, choice.segment, costs) / best - 1;
    }
    /// Segments go one way along a chain or a tree: all but the first take the same time.
    static bool flows_evenly() {
        const std::string_view name = GetParam()->name;
        return name == "linear_pipeline" || (name == "pipelined_binary_tree" && GetParam()->collective == "bcast");
    }
    /// Pieces go through several collectives, one after the other: the first ones say less of the others.
    static bool is_composition() { return GetParam()->uses_nodes; }
    static double most_regret() { return flows_evenly() ? 0.08 : is_composition() ? 0.4 : 0.3; }

  private:
    Placement placement_;
};

TEST_P(EveryPipeline, is_extrapolated_from_its_first_segments) {
    // Where messages come from several sides in turn, the time per segment varies.
    const double tolerance = flows_evenly() ? 0.03 : is_composition() ? 0.3 : 0.2;
    for (const CostModel& costs : {slow, fast}) {
        for (const Rank size : {3, 8, 17}) {
            for (const Count segments : {130, 250}) {
                const Count segment = 32768;
                const SharedFacts facts =
                    facts_of(size, segment * segments * (GetParam()->has_segments_of_parts ? size : 1));
                const auto settings = GetParam()->open_settings();
                const SegmentTime timed = time_of_segment(*GetParam(), facts, settings, segment, costs, 1 << 20);
                EXPECT_EQ(timed.basis, Basis::extrapolated);
                EXPECT_EQ(timed.segments, segments);
                const double whole = whole_time(*GetParam(), facts, segment, costs);
                EXPECT_NEAR(timed.seconds / whole, 1, tolerance) << "p=" << size << " segments=" << segments;
            }
        }
    }
}

TEST_P(EveryPipeline, gets_about_the_best_segment) {
    for (const CostModel& costs : {slow, fast}) {
        for (const Rank size : {2, 8, 20}) {
            for (const Count bytes : {1 << 16, 1 << 20, 3'000'000}) {
                if (is_sanitized && bytes > 1 << 20) continue;
                for (const Rank on_node : ranks_on_nodes()) {
                    EXPECT_LE(regret(facts_of(size, bytes, on_node), costs), most_regret())
                        << "p=" << size << " on_node=" << on_node << " bytes=" << bytes << " alpha=" << costs.alpha;
                }
            }
        }
    }
}

TEST_P(EveryPipeline, gets_a_good_segment_from_fewer_ranks) {
    for (const CostModel& costs : {slow, fast}) {
        for (const Count bytes : {1 << 16, 1 << 20}) {
            if (is_sanitized && bytes > 1 << 16) continue;
            for (const Rank on_node : ranks_on_nodes()) {
                const SharedFacts facts = facts_of(70, bytes, on_node);
                const auto choice = best_segment(*GetParam(), facts, GetParam()->open_settings(), costs);
                const bool has_choice = candidate_segments(*GetParam(), facts).size() > 1;
                // Short vectors of compositions are a few pieces, which all ranks can run.
                const bool is_whole = is_composition() && choice.basis == Basis::whole;
                EXPECT_TRUE(is_whole || choice.basis == (has_choice ? Basis::fewer_ranks : Basis::standard));
                EXPECT_LE(regret(facts, costs), most_regret())
                    << "on_node=" << on_node << " bytes=" << bytes << " alpha=" << costs.alpha;
            }
        }
    }
}

TEST_P(EveryPipeline, is_never_given_a_segment_that_it_refuses) {
    for (const Rank size : {1, 2, 9, 1000}) {
        for (const Count bytes : {0, 8, 4096, 5000, 1 << 20}) {
            const SharedFacts facts = facts_of(size, bytes);
            const auto settings = closed_settings(*GetParam(), facts, GetParam()->open_settings(), fast);
            EXPECT_NE(segment_of(settings), automatic);
            EXPECT_EQ(GetParam()->refusal(facts, settings), std::nullopt) << "p=" << size << " bytes=" << bytes;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPipeline, testing::ValuesIn(pipelined_algorithms()), test_name);

const AlgorithmInfo& pipeline() { return *find_collective("exscan")->algorithm("linear_pipeline"); }

TEST(SegmentChoice, grows_with_what_a_message_costs) {
    CostModel costs = slow;
    const SharedFacts facts = facts_of(8, 4 << 20);
    Count before = 0;
    for (const double overhead : {0.0, 1e-4, 1e-3, 1e-2, 1.0}) {
        costs.overhead = overhead;
        const Count segment = best_segment(pipeline(), facts, pipeline().open_settings(), costs).segment;
        EXPECT_GE(segment, before) << overhead;
        before = segment;
    }
    EXPECT_EQ(before, 4 << 20);
}

// What is not in the model speaks for the standard segment.
TEST(SegmentChoice, leaves_the_standard_only_for_a_gain) {
    CostModel costs = slow;
    const SharedFacts facts = facts_of(8, 1 << 20);
    const Count enough = 1 << 20;  // actions, to time all segments alike
    const auto time_of = [&](Count segment) {
        return time_of_segment(pipeline(), facts, pipeline().open_settings(), segment, costs, enough).seconds;
    };
    int kept_shorter = 0, kept_longer = 0, taken_shorter = 0, taken_longer = 0;
    for (costs.overhead = 1e-6; costs.overhead < 1e-2; costs.overhead *= 1.05) {
        for (const double alpha : {1e-4, 1e-2}) {
            costs.alpha = alpha;
            const SegmentTime choice = best_segment(pipeline(), facts, pipeline().open_settings(), costs, enough);
            const double standard = time_of(segment_parameter.standard);
            if (choice.segment != segment_parameter.standard) {
                EXPECT_LE(choice.seconds, standard / 1.05) << costs.overhead << " " << costs.alpha;
                ++(choice.segment < segment_parameter.standard ? taken_shorter : taken_longer);
            } else {
                kept_shorter += time_of(segment_parameter.standard / 2) < standard ? 1 : 0;
                kept_longer += time_of(segment_parameter.standard * 2) < standard ? 1 : 0;
            }
        }
    }
    EXPECT_GT(kept_shorter, 0);
    EXPECT_GT(kept_longer, 0);
    EXPECT_GT(taken_shorter, 0);
    EXPECT_GT(taken_longer, 0);
}

// Where messages of the standard length wait for their receiver, and cost more than that hides.
TEST(SegmentChoice, stays_within_the_eager_limit) {
    int beyond = 0;
    for (const AlgorithmInfo* algorithm : pipelined_algorithms()) {
        for (const CostModel& costs : {slow, fast}) {
            for (const Rank size : {3, 8, 36}) {
                for (const Count bytes : {1 << 15, 1 << 18, 1 << 22, 1 << 24}) {
                    const SharedFacts facts =
                        find_collective(algorithm->collective)->facts(virtual_machine::facts_of(size, bytes));
                    const auto settings = algorithm->open_settings();
                    const CostModel limited = with_eager_limit(costs, 16 << 10);
                    const Count found = best_segment(*algorithm, facts, settings, limited).segment;
                    if (found > 16 << 10) {
                        ++beyond;
                        // Found on fewer ranks, it may be a little worse on all.
                        EXPECT_LT(whole_time(*algorithm, facts, found, limited),
                                  1.05 * whole_time(*algorithm, facts, 16 << 10, limited))
                            << algorithm->collective << "/" << algorithm->name << " p=" << size << " bytes=" << bytes;
                    }
                    const CostModel odd = with_eager_limit(costs, 20000);
                    EXPECT_LE(best_segment(*algorithm, facts, settings, odd, 0).segment, 16 << 10);
                }
            }
        }
    }
    EXPECT_LE(beyond, 7);
}

TEST(SegmentChoice, exceeds_the_eager_limit_for_a_gain) {
    CostModel costs = slow;
    costs.overhead = 0.1;  // so few messages are best, waiting or not
    const SharedFacts facts = facts_of(8, 4 << 20);
    const auto segment = [&](Count eager_limit) {
        const CostModel limited = with_eager_limit(costs, eager_limit);
        return best_segment(pipeline(), facts, pipeline().open_settings(), limited).segment;
    };
    EXPECT_GT(segment(16 << 10), 256 << 10);
    costs.overhead = 2e-4;  // longer ones gain, but not as much as the wait costs
    EXPECT_GT(segment(no_eager_limit), 16 << 10);
    EXPECT_EQ(segment(16 << 10), 16 << 10);
}

TEST(SegmentChoice, does_not_ask_for_the_impossible) {
    const SharedFacts facts = facts_of(8, 1 << 20);
    const auto settings = pipeline().open_settings();
    const auto segment = [&](Count eager_limit) {
        return best_segment(pipeline(), facts, settings, with_eager_limit(slow, eager_limit)).segment;
    };
    // None of those that are taken anyway would wait, or all segments: then they had better be long.
    for (const Count eager_limit : {segment_parameter.standard, Count{1} << 20}) {
        EXPECT_EQ(segment(eager_limit), segment(no_eager_limit)) << eager_limit;
    }
    for (const Count eager_limit : {0, 100}) {
        const CostModel limited = with_eager_limit(slow, eager_limit);
        EXPECT_GE(segment(eager_limit), segment_parameter.standard);
        EXPECT_LT(whole_time(pipeline(), facts, segment(eager_limit), limited),
                  whole_time(pipeline(), facts, segment(no_eager_limit), limited));
    }
    const SharedFacts large_elements{.size = 4, .count = 100, .element_bytes = 50000, .op = {true}};
    EXPECT_GE(best_segment(pipeline(), large_elements, settings, with_eager_limit(slow, 16 << 10)).segment, 50000);
}

TEST(SegmentChoice, is_shorter_than_lock_step_says) {
    // 4 MiB on 8 nodes, 2 ms, 200 Mbit/s: 22 segments by the formula, 128 where measured.
    const SegmentTime choice = best_segment(pipeline(), facts_of(8, 4 << 20), pipeline().open_settings(), slow);
    EXPECT_GE(choice.segments, 64);
    EXPECT_LT(choice.seconds, 0.2);
}

TEST(SegmentChoice, leaves_what_is_set_alone) {
    const std::vector<Setting> set = {{segment_parameter.name, 12345}};
    EXPECT_EQ(segment_of(closed_settings(pipeline(), facts_of(8, 1 << 20), set, slow)), 12345);
}

TEST(SegmentChoice, is_the_standard_one_without_a_budget) {
    const auto settings = pipeline().open_settings();
    const SegmentTime choice = best_segment(pipeline(), facts_of(8, 1 << 20), settings, slow, 0);
    EXPECT_EQ(choice.basis, Basis::standard);
    EXPECT_EQ(choice.segment, segment_parameter.standard);
    EXPECT_EQ(best_segment(pipeline(), facts_of(8, 1000), settings, slow, 0).segment, 1000);
}

TEST(SegmentChoice, candidates_are_whole_elements_and_not_too_many) {
    EXPECT_EQ(candidate_segments(pipeline(), facts_of(2, 20000)), (std::vector<Count>{4096, 8192, 16384, 20000}));
    EXPECT_EQ(candidate_segments(pipeline(), {.size = 2, .count = 3, .element_bytes = 5000}),
              (std::vector<Count>{8192, 15000}));
    EXPECT_EQ(candidate_segments(pipeline(), {.size = 2, .count = 0, .element_bytes = 8}), std::vector<Count>{1});
    const SharedFacts huge{.size = 2, .count = Count{1} << 40, .element_bytes = 8};
    for (const Count segment : candidate_segments(pipeline(), huge))
        EXPECT_LE(segments_of(huge, segment), most_segments);
}

constexpr Requirement never = {"nothing", [](const SharedFacts&, std::span<const Setting>) {
                                   return std::optional<std::string>("serves nobody");
                               }};

Schedule must_not_be_run(const Call&) {
    ADD_FAILURE() << "a schedule was made of a call that is refused";
    co_return;
}

TEST(SegmentChoice, runs_nothing_that_is_refused) {
    const AlgorithmInfo refuses{.collective = "exscan",
                                .name = "refuses",
                                .parameters = {&segment_parameter, 1},
                                .requirements = {&never, 1},
                                .schedule = must_not_be_run};
    const SegmentTime choice = best_segment(refuses, facts_of(8, 1 << 20), refuses.open_settings(), slow);
    EXPECT_EQ(choice.basis, Basis::standard);
}

}  // namespace
}  // namespace rondo::virtual_machine
