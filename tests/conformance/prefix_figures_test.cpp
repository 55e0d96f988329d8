// SPDX-License-Identifier: BSD-3-Clause
// Rounds, operator applications and volume of the scans, counted by execution and held against the papers' formulas.
#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::Outcome;

const Rank largest_size = Width{.brief = 70, .everyday = 600, .full = 600}();

Outcome run(const char* collective, const char* name, Rank size, Count count, std::vector<Setting> settings) {
    const AlgorithmInfo* algorithm = find_collective(collective)->algorithm(name);
    const SharedFacts facts{.size = size, .count = count, .element_bytes = element_bytes};
    return virtual_machine::run_lock_step({*algorithm, facts, settings});
}

Outcome run(const char* collective, const char* name, Rank size, Count count = 7) {
    return run(collective, name, size, count, find_collective(collective)->algorithm(name)->standard_settings());
}

/// Every round sends at most the whole vector: the busiest rank's volume is at most rounds * count.
void expect_full_vectors(const Outcome& outcome, Count count) {
    EXPECT_LE(outcome.most_volume(), static_cast<Count>(outcome.time) * count);
    for (const auto& rank : outcome.ranks) EXPECT_EQ(rank.volume, rank.sent * count);
}

TEST(scan_doubling, takes_ceil_log2_p_rounds_and_operations) {
    for (Rank p = 1; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Outcome outcome = run("scan", "doubling", p);
        EXPECT_EQ(outcome.time, ceil_log2(p));
        EXPECT_EQ(outcome.most_operations(), ceil_log2(p));
        EXPECT_EQ(outcome.ranks.back().operations, ceil_log2(p));
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_one_doubling, takes_one_plus_ceil_log2_of_p_minus_1_rounds) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Outcome outcome = run("exscan", "one_doubling", p);
        EXPECT_EQ(outcome.time, 1 + ceil_log2(p - 1));
        EXPECT_EQ(outcome.most_operations(), ceil_log2(p - 1));
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_broadcast, sends_from_every_rank_to_all_above) {
    for (Rank p = 2; p <= 40; ++p) {  // it has p (p - 1) / 2 messages
        SCOPED_TRACE(p);
        const Outcome outcome = run("exscan", "broadcast", p);
        EXPECT_EQ(outcome.time, p - 1);
        EXPECT_EQ(outcome.most_operations(), p - 2);
        for (Rank rank = 0; rank < p; ++rank) {
            EXPECT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].sent, p - 1 - rank);
            EXPECT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].received, rank);
        }
    }
}

/// Rounds of a member of the family: span 2^q' - 1 after q' rounds, doubled by each further one, until p-1.
int family_rounds(Rank p, int inclusive_rounds) {
    int rounds = std::min(inclusive_rounds, ceil_log2(p));
    for (std::int64_t span = (std::int64_t{1} << rounds) - 1; span < p - 1; span *= 2) ++rounds;
    return rounds;
}

TEST(exscan_two_op_doubling, takes_ceil_log2_p_rounds_and_at_most_two_operations_in_each_but_the_first) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Outcome outcome = run("exscan", "two_op_doubling", p);
        const int q = ceil_log2(p);
        EXPECT_EQ(outcome.time, q);
        // The paper says 2q-1. A rank that both sends and receives in the last round would need p > 2^q: at most 2q-3.
        EXPECT_LE(outcome.most_operations(), std::max(q - 1, 2 * q - 3));
        EXPECT_EQ(outcome.ranks.back().operations, q - 1);  // it never sends
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_doubling_123, takes_the_rounds_of_theorem_1) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Outcome outcome = run("exscan", "doubling_123", p);
        // ceil(log2(p-1) + log2(4/3)) is the smallest q with 3*2^q >= 4(p-1); one round at least.
        int q = 1;
        while (3 * (std::int64_t{1} << q) < 4 * std::int64_t{p - 1}) ++q;
        EXPECT_EQ(outcome.time, q);
        EXPECT_EQ(outcome.ranks.back().operations, q - 1);
        EXPECT_LE(outcome.most_operations(), q);  // one more on ranks that also send in the second round
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_cyclic_doubling, meets_the_lower_bound_on_rounds_with_fewer_operations_than_rounds) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Outcome outcome = run("exscan", "cyclic_doubling", p);
        EXPECT_EQ(outcome.time, ceil_log2(p));
        EXPECT_LE(outcome.most_operations(), ceil_log2(p) - 1);
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_prefix_family, takes_ceil_log2_p_rounds_with_the_fewest_inclusive_rounds) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const int q = ceil_log2(p);
        int inclusive = 1;
        while ((1 << q) - (1 << (q - inclusive)) < p - 1) ++inclusive;
        const Outcome outcome = run("exscan", "prefix_family", p);
        EXPECT_EQ(outcome.time, q);
        EXPECT_LE(outcome.most_operations(), q + inclusive - 2);
        EXPECT_EQ(outcome.ranks.back().operations, q - 1);
        expect_full_vectors(outcome, 7);
    }
}

TEST(exscan_prefix_family, has_the_named_algorithms_as_members) {
    for (Rank p = 2; p <= std::min<Rank>(130, largest_size); ++p) {
        for (int inclusive = 1; inclusive <= 9; ++inclusive) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " q'=" << inclusive);
            const Outcome outcome = run("exscan", "prefix_family", p, 7, {{"inclusive_rounds", inclusive}});
            EXPECT_EQ(outcome.time, family_rounds(p, inclusive));
        }
    }
}

TEST(linear_pipeline, takes_p_minus_2_rounds_and_one_per_segment) {
    for (const char* collective : {"scan", "exscan"}) {
        for (const Rank p : {2, 3, 4, 5, 8, 17, 36, 64}) {
            for (const Count segments : {1, 2, 5, 9, 50}) {
                SCOPED_TRACE(testing::Message() << collective << " p=" << p << " segments=" << segments);
                constexpr Count per_segment = 3;
                const Outcome outcome = run(collective, "linear_pipeline", p, per_segment * segments,
                                            {{"segment", per_segment * element_bytes}});
                EXPECT_EQ(outcome.time, static_cast<double>(p - 2 + segments));
                const bool combines = std::string_view(collective) == "scan" || p > 2;
                EXPECT_EQ(outcome.most_operations(), combines ? segments : 0);
                EXPECT_EQ(outcome.most_volume(), per_segment * segments);
            }
        }
    }
}

}  // namespace
}  // namespace rondo::conformance
