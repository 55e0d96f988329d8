// SPDX-License-Identifier: BSD-3-Clause
// A segment that is longer than the vector is a segment as long as the vector: the same results, the same messages.
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/pipeline.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

std::vector<const AlgorithmInfo*> pipelines() {
    std::vector<const AlgorithmInfo*> all;
    for (const AlgorithmInfo* algorithm : all_algorithms()) {
        if (algorithm->parameter(segment_parameter.name) != nullptr) all.push_back(algorithm);
    }
    return all;
}

std::vector<Setting> with_segment(const AlgorithmInfo& algorithm, Count bytes) {
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name) setting.value = bytes;
    }
    return settings;
}

using Counts = std::vector<std::array<std::int64_t, 5>>;

Counts counts(const virtual_machine::Outcome& outcome) {
    Counts all;
    for (const auto& each : outcome.ranks) {
        all.push_back({each.sent, each.received, each.volume, each.operations, each.combined});
    }
    return all;
}

class EveryPipeline : public testing::TestWithParam<const AlgorithmInfo*> {
  protected:
    static void compare(Rank size, const Placement* placement) {
        const AlgorithmInfo& algorithm = *GetParam();
        for (const Count count : {1, 2, 7, 100}) {
            for (const bool commutative : {false, true}) {
                const SharedFacts facts = find_collective(algorithm.collective)
                                              ->facts({.size = size,
                                                       .count = count,
                                                       .element_bytes = element_bytes,
                                                       .op = {commutative},
                                                       .placement = algorithm.uses_nodes ? placement : nullptr});
                const auto whole = with_segment(algorithm, count * element_bytes);
                if (algorithm.refusal(facts, whole)) continue;
                const virtual_machine::Outcome expected = virtual_machine::run_lock_step({algorithm, facts, whole});
                for (const Count longer : {count * element_bytes + 1, Count{4} << 10, segment_parameter.maximum}) {
                    SCOPED_TRACE(testing::Message() << "p=" << size << " count=" << count << " segment=" << longer);
                    const auto settings = with_segment(algorithm, longer);
                    EXPECT_EQ(algorithm.refusal(facts, settings), std::nullopt);
                    const virtual_machine::Outcome outcome =
                        virtual_machine::run_lock_step({algorithm, facts, settings});
                    EXPECT_EQ(outcome.time, expected.time);
                    EXPECT_EQ(counts(outcome), counts(expected));
                }
            }
        }
    }
};

TEST_P(EveryPipeline, takes_a_longer_segment_for_the_whole_vector) {
    for (const Rank size : {1, 2, 3, 5, 8, 13}) compare(size, nullptr);
}

TEST_P(EveryPipeline, takes_a_longer_segment_for_the_whole_vector_on_nodes) {
    for (const Placement& placement : {Placement::regular(3, 4), nodes_of({1, 4, 2})}) {
        compare(placement.size(), &placement);
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithm, EveryPipeline, testing::ValuesIn(pipelines()), test_name);

}  // namespace
}  // namespace rondo::conformance
