// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/distribution/distribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/core/error.hpp"
#include "tests/sanitized.hpp"

namespace rondo {
namespace {

using testing::ElementsAre;
using virtual_machine::CostModel;

constexpr CostModel latency_alone{.alpha = 100};
constexpr CostModel with_processors{.alpha = 80, .beta = 0.5, .gamma = 0.05, .overhead = 15};
constexpr Passes equal{1, 1}, costly_first{2, 0.5}, costly_second{0.25, 2};

PrefixSum sum_by(const AlgorithmInfo& algorithm, Rank ranks, const CostModel& costs, const Passes& passes) {
    const SharedFacts facts{.size = ranks, .count = 1, .element_bytes = 8, .op = {true}};
    return {algorithm, facts, virtual_machine::with_segment(algorithm.standard_settings(), 8), costs, passes};
}

PrefixSum chain(Rank ranks, const CostModel& costs, const Passes& passes) {
    return sum_by(*find_collective("exscan")->algorithm("linear_pipeline"), ranks, costs, passes);
}

double seconds(PrefixSum& sum, const std::vector<Count>& counts) { return end_of(sum.times(counts), counts); }

Count total(const std::vector<Count>& counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

TEST(distribution, even_differs_by_one_at_most) {
    EXPECT_THAT(even(10, 4), ElementsAre(3, 3, 2, 2));
    EXPECT_THAT(even(0, 3), ElementsAre(0, 0, 0));
    EXPECT_THAT(even(2, 3), ElementsAre(1, 1, 0));
}

TEST(distribution, a_ladder_rises_by_its_step_and_is_capped_as_in_the_paper) {
    EXPECT_THAT(ladder(100, 4, 10), ElementsAre(10, 20, 30, 40));
    EXPECT_THAT(ladder(140, 4, 10), ElementsAre(20, 30, 40, 50));
    // "If the first processor starts with 25k, [...] and there is a total of 150k data": three of ten.
    EXPECT_THAT(ladder(150'000, 10, 25'000), ElementsAre(25'000, 50'000, 75'000, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(ladder(7, 3, 100), ElementsAre(7, 0, 0));
    EXPECT_THAT(ladder(9, 3, 0), ElementsAre(3, 3, 3));
}

TEST(distribution, a_tent_has_its_peak_where_the_passes_say) {
    EXPECT_THAT(tent(8000, 4, equal, 100), ElementsAre(1950, 2050, 2050, 1950));
    EXPECT_THAT(tent(10'000, 5, equal, 100), ElementsAre(1920, 2020, 2120, 2020, 1920));
    EXPECT_THAT(tent(8000, 4, {1, 0}, 100), ElementsAre(1850, 1950, 2050, 2150));  // a ladder
    EXPECT_THAT(tent(8000, 4, {0, 1}, 100), ElementsAre(2150, 2050, 1950, 1850));
    EXPECT_THAT(tent(9, 3, equal, 0), ElementsAre(3, 3, 3));
}

TEST(distribution, a_tent_over_a_chain_hides_half_of_it) {
    for (const Rank p : {2, 3, 8, 33, 64}) {
        const Count each = 1'000'000;
        auto sum = chain(p, latency_alone, equal);
        const double hidden = p % 2 == 0 ? p / 2.0 : (p - 1.0 / p) / 2;
        EXPECT_NEAR(seconds(sum, tent(each * p, p, equal, 100)), 2.0 * each + 100 * hidden, 4) << p;
        EXPECT_NEAR(seconds(sum, even(each * p, p)), 2.0 * each + 100 * (p - 1), 4) << p;
        EXPECT_NEAR(seconds(sum, ladder(each * p, p, 100)), 2.0 * each + 100 * (p - 1), 4) << p;
    }
}

TEST(distribution, a_tent_has_no_more_ranks_than_pay) {
    const Count elements = 100'000;
    const auto best = static_cast<Rank>(std::sqrt(2.0 * elements * equal.both() / 100));
    const std::vector<Count> counts = tent(elements, 600, equal, 100);
    EXPECT_EQ(total(counts), elements);
    const auto active = std::ranges::count_if(counts, [](Count each) { return each > 0; });
    EXPECT_NEAR(static_cast<double>(active), best, 1);
    auto sum = chain(600, latency_alone, equal);
    EXPECT_NEAR(seconds(sum, counts), std::sqrt(2.0 * elements * equal.both() * 100), 200);
}

/// The least time of all distributions.
double by_brute_force(PrefixSum& sum, Rank ranks, Count elements) {
    std::vector<Count> counts(static_cast<std::size_t>(ranks));
    double least = 1e300;
    const std::function<void(std::size_t, Count)> try_all = [&](std::size_t rank, Count left) {
        if (rank + 1 == counts.size()) {
            counts[rank] = left;
            least = std::min(least, seconds(sum, counts));
            return;
        }
        for (counts[rank] = 0; counts[rank] <= left; ++counts[rank]) try_all(rank + 1, left - counts[rank]);
    };
    try_all(0, elements);
    return least;
}

class EveryExscan : public testing::TestWithParam<const AlgorithmInfo*> {};

TEST_P(EveryExscan, best_is_the_best_of_all_distributions) {
    constexpr Count elements = 36;
    for (const Passes& passes : {equal, costly_first, costly_second}) {
        for (const double alpha : {0.5, 3.0, 12.0}) {  // the last: fewer ranks are better
            for (const Rank ranks : {1, 2, 3, 4}) {
                if (is_sanitized && ranks > 3) break;
                auto sum = sum_by(*GetParam(), ranks, {.alpha = alpha}, passes);
                const PrefixSum::Best best = sum.best(elements);
                // Elements are whole: two on the way from one rank to another may be off.
                EXPECT_LE(best.seconds, by_brute_force(sum, ranks, elements) + passes.both())
                    << "p=" << ranks << " alpha=" << alpha << " first pass " << passes.first;
            }
        }
    }
}

TEST_P(EveryExscan, best_is_sound_and_never_worse_than_the_others) {
    for (const CostModel& costs : {latency_alone, with_processors}) {
        for (const Passes& passes : {equal, costly_first, costly_second}) {
            for (const Rank ranks : {2, 3, 8, 33}) {
                for (const Count each : {10, 4000}) {
                    SCOPED_TRACE(testing::Message() << "p=" << ranks << " elements=" << each << " alpha=" << costs.alpha
                                                    << " first pass " << passes.first);
                    auto sum = sum_by(*GetParam(), ranks, costs, passes);
                    const Count elements = each * ranks;
                    const PrefixSum::Best best = sum.best(elements);
                    EXPECT_EQ(total(best.counts), elements);
                    EXPECT_GE(*std::ranges::min_element(best.counts), 0);
                    EXPECT_DOUBLE_EQ(best.seconds, seconds(sum, best.counts));
                    const double hop = hop_of_chain(costs, 8);
                    EXPECT_LE(best.seconds, seconds(sum, even(elements, ranks)));
                    EXPECT_LE(best.seconds, seconds(sum, tent(elements, ranks, passes, hop)));
                    EXPECT_LE(best.seconds, seconds(sum, ladder(elements, ranks, hop / passes.first)));
                }
            }
        }
    }
}

TEST_P(EveryExscan, best_comes_near_its_bound) {
    for (const Rank ranks : {2, 5, 8, 24, 64}) {
        for (const Passes& passes : {equal, costly_first, costly_second}) {
            auto sum = sum_by(*GetParam(), ranks, latency_alone, passes);
            const Count elements = Count{4000} * ranks;
            const double waits = seconds(sum, even(elements, ranks)) - 4000 * passes.both();
            const PrefixSum::Best best = sum.best(elements);
            EXPECT_LE(best.seconds, best.bound + 0.02 * waits + 3 * passes.both()) << ranks << " " << passes.first;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryExscan, testing::ValuesIn(find_collective("exscan")->algorithms),
                         [](const auto& each) { return std::string(each.param->name); });

TEST(distribution, best_over_a_chain_is_the_tent) {
    for (const Rank ranks : {2, 3, 8, 33, 64, 600}) {
        for (const Passes& passes : {equal, costly_first, costly_second}) {
            const Count elements = Count{1'000'000} * ranks;
            auto sum = chain(ranks, latency_alone, passes);
            EXPECT_LE(sum.best(elements).seconds, seconds(sum, tent(elements, ranks, passes, 100)) + 4);
        }
    }
}

TEST(distribution, refuses_what_makes_no_sense) {
    EXPECT_THROW((void)even(-1, 3), Error);
    EXPECT_THROW((void)even(1, 0), Error);
    EXPECT_THROW((void)ladder(1, 3, -1), Error);
    EXPECT_THROW((void)ladder(1, 3, std::nan("")), Error);
    EXPECT_THROW((void)tent(1, 3, {0, 0}, 1), Error);
    EXPECT_THROW((void)chain(3, latency_alone, {0, 0}), Error);
    EXPECT_THROW((void)chain(3, latency_alone, {-1, 2}), Error);
    auto sum = chain(3, latency_alone, equal);
    EXPECT_THROW((void)sum.best(-1), Error);
    EXPECT_THROW((void)sum.times(std::vector<Count>{1, 2}), Error);
    EXPECT_THROW((void)sum.times(std::vector<Count>{1, 2, -1}), Error);
}

}  // namespace
}  // namespace rondo
