// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm delivers what its collective promises: proved on symbols, for every p up to 64 and some beyond it; in
// `make soak` for every p up to 256.
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

std::uint64_t most_seeds() { return is_sanitized ? 1 : is_full() ? 10 : 3; }

/// Those that are tried in lock step.
std::vector<Rank> sizes() {
    std::vector<Rank> all(static_cast<std::size_t>(Width{.brief = 12, .everyday = 64, .full = 256}()));
    std::iota(all.begin(), all.end(), 1);
    if (all.size() == 64) all.insert(all.end(), {65, 95, 127, 128, 129, 192, 255, 256});
    return all;
}

class EveryAlgorithm : public testing::TestWithParam<const AlgorithmInfo*> {
  protected:
    /// Those that use nodes are tried on nodes besides (nodes_test.cpp); here every rank is a node.
    static std::size_t all_cases() {
        if (is_full()) return std::size_t(-1);
        if (is_all_to_all()) return cases(60, 0);
        if (GetParam()->uses_nodes) return 30;
        return is_sanitized ? 40 : 200;
    }
    static std::size_t cases(std::size_t everyday, std::size_t full) {
        if (is_full()) return full;
        if (is_sanitized) everyday = std::max<std::size_t>(1, everyday / 3);
        if (is_all_to_all()) return std::max<std::size_t>(1, everyday / 12);
        return GetParam()->uses_nodes ? std::max<std::size_t>(1, everyday / 4) : everyday;
    }
    /// Every rank has something from every other: results as long as all vectors together.
    static bool is_all_to_all() { return find_collective(GetParam()->collective)->has.all_to_all(); }
};

TEST_P(EveryAlgorithm, is_right_in_lock_step_for_every_p) {
    for (const Rank size : sizes()) {
        if (is_all_to_all() && size > 129 && !is_full()) return;
        for_each_case(*GetParam(), size,
                      size <= 32    ? all_cases()
                      : size <= 100 ? cases(8, 20)
                                    : cases(4, 8),
                      [](const auto& problem) { EXPECT_NO_THROW(virtual_machine::run_lock_step(problem)); });
        if (HasFailure()) return;
    }
}

TEST_P(EveryAlgorithm, is_right_in_lock_step_on_many_ranks) {
    const Width width = is_all_to_all() ? Width{.brief = 0, .everyday = 257, .full = 512}
                                        : Width{.brief = 0, .everyday = 512, .full = 2047};
    for (const Rank size : {257, 512, 1000, 2047}) {
        if (size > width()) return;
        for_each_case(*GetParam(), size, is_full() && size <= 512 ? 3 : 1,
                      [](const auto& problem) { EXPECT_NO_THROW(virtual_machine::run_lock_step(problem)); });
        if (HasFailure()) return;
    }
}

TEST_P(EveryAlgorithm, is_right_as_dataflow_for_every_p) {
    const Rank largest_size = Width{.brief = 12, .everyday = 128, .full = 256}();
    for (Rank size = 1; size <= largest_size; size += size < 40 ? 1 : 27) {
        for_each_case(*GetParam(), size, cases(12, 40),
                      [](const auto& problem) { EXPECT_NO_THROW(virtual_machine::run_dataflow(problem)); });
        if (HasFailure()) return;
    }
}

TEST_P(EveryAlgorithm, is_right_in_random_completion_orders) {
    for (const Rank size : {2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 100}) {
        if (size > Width{.brief = 9, .everyday = 64, .full = 100}()) return;
        const std::uint64_t seeds = size <= 9 ? most_seeds() : 2;
        for_each_case(*GetParam(), size, size <= 9 ? cases(24, 24) : cases(4, 8), [&](const auto& problem) {
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                SCOPED_TRACE("seed " + std::to_string(seed));
                EXPECT_NO_THROW(virtual_machine::run_dataflow(problem, {.seed = seed}));
                const FlightLimits one_by_one{.receives = 1, .sends = 1};
                EXPECT_NO_THROW(
                    virtual_machine::run_dataflow(problem, {.synchronous = true, .seed = seed, .limits = one_by_one}));
            }
        });
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn(all_algorithms()), test_name);

}  // namespace
}  // namespace rondo::conformance
