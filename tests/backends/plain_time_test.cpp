// SPDX-License-Identifier: BSD-3-Clause
// The times of the quick machine are those of the plain one, to the last bit: every algorithm, up to 256 ranks, with
// one message at a time on each lane and with messages that share lanes as fluids do.
#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/backends/virtual/timing.hpp"
#include "tests/backends/plain_time.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr LinkCosts memory = {.alpha = 5e-7, .beta = 1e-11, .overhead = 1e-7};
constexpr CostModel cost_models[] = {
    {.alpha = 2e-3, .beta = 4e-8, .gamma = 1e-10, .overhead = 5e-5},
    {.alpha = 2e-6,
     .beta = 8e-11,
     .gamma = 4e-11,
     .overhead = 5e-7,
     .inside = memory,
     .eager = 4096,
     .rendezvous = 4e-6},
    {.alpha = 2e-6, .beta = 8e-11, .gamma = 4e-11, .inside = memory, .lanes = 3, .eager = 512, .rendezvous = 4e-6},
    {.alpha = 2e-6, .beta = 8e-11, .gamma = 4e-11, .overhead = 5e-7, .eager = 4096, .rendezvous = 4e-6, .fluid = true},
    {.alpha = 0, .beta = 1e-10, .overhead = 1e-7, .inside = memory, .lanes = 2, .eager = 64, .fluid = true}};

std::vector<const AlgorithmInfo*> all_algorithms() {
    std::vector<const AlgorithmInfo*> all;
    for (const Collective& collective : collectives()) {
        all.insert(all.end(), collective.algorithms.begin(), collective.algorithms.end());
    }
    return all;
}

std::string test_name(const testing::TestParamInfo<const AlgorithmInfo*>& info) {
    return std::string(info.param->collective) + "_" + std::string(info.param->name);
}

class PlainMachine : public testing::TestWithParam<const AlgorithmInfo*> {
  protected:
    static void compare_on(const Placement& placement, Count bytes, Count segment) {
        const auto settings = with_segment(GetParam()->standard_settings(), segment);
        const SharedFacts facts = find_collective(GetParam()->collective)
                                      ->facts({.size = placement.size(),
                                               .count = bytes / 8,
                                               .element_bytes = 8,
                                               .op = {true},
                                               .placement = &placement});
        if (GetParam()->refusal(facts, settings)) return;
        const Problem problem{*GetParam(), facts, settings};
        plain::Timing plain(problem);
        auto quick = Timing::of(problem);
        ASSERT_TRUE(quick.has_value());
        for (const CostModel& costs : cost_models) {
            EXPECT_EQ(quick->time(costs, facts.element_bytes), plain.time(costs, facts.element_bytes))
                << placement.nodes() << " nodes, " << placement.size() << " ranks, " << bytes
                << " bytes, alpha=" << costs.alpha << " lanes=" << costs.lanes << " fluid=" << costs.fluid;
        }
    }
};

TEST_P(PlainMachine, gives_the_times) {
    const Rank uneven[] = {0, 0, 0, 1, 2, 2, 0, 3, 3, 3, 3, 4, 4, 1};
    const Placement placements[] = {Placement::regular(8, 1), Placement::regular(37, 1), Placement::regular(5, 4),
                                    Placement::regular(4, 16), Placement::of(uneven)};
    for (const Placement& placement : placements) {
        for (const Count bytes : {8, 3000, 40'000}) compare_on(placement, bytes, 1000);
    }
}

TEST_P(PlainMachine, gives_the_times_on_many_ranks) {
    const Rank side = is_sanitized ? 8 : 16;
    for (const Placement& placement : {Placement::regular(side * side, 1), Placement::regular(side, side)}) {
        compare_on(placement, 20'000, 4096);
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, PlainMachine, testing::ValuesIn(all_algorithms()), test_name);

}  // namespace
}  // namespace rondo::virtual_machine
