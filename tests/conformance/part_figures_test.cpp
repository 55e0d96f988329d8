// SPDX-License-Identifier: BSD-3-Clause
// Rounds, messages, volume and operator applications of the algorithms on vectors of parts, allgather, reduce-scatter
// and the allreduces made of them, counted by execution and held against the papers' formulas.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::CostModel;
using virtual_machine::Outcome;

const Rank largest_size = Width{.brief = 40, .everyday = 100, .full = 200}();

constexpr Count per_part = 3;

/// A call whose vector has `per_part` elements for every rank, unless `starts` says otherwise.
struct PartsRun {
    const char* collective;
    const char* name;
    Rank size;
    std::vector<Setting> settings = {};  ///< others have their standard values, segments the whole vector's length
    std::vector<Count> starts = {};
    CostModel costs = {};

    [[nodiscard]] Count count() const { return starts.empty() ? size * per_part : starts.back(); }
    [[nodiscard]] Outcome outcome() const {
        const AlgorithmInfo* algorithm = find_collective(collective)->algorithm(name);
        std::vector<Setting> all = algorithm->standard_settings();
        for (Setting& setting : all) {
            if (setting.name == "segment") setting.value = count() * element_bytes;
            for (const Setting& other : settings) {
                if (setting.name == other.name) setting.value = other.value;
            }
        }
        const SharedFacts facts =
            find_collective(collective)
                ->facts(
                    {.size = size, .count = count(), .element_bytes = element_bytes, .op = {true}, .starts = starts});
        EXPECT_EQ(algorithm->refusal(facts, all), std::nullopt);
        return virtual_machine::run_lock_step({*algorithm, facts, all}, costs);
    }
};

/// What every rank does, in all.
struct Figures {
    std::int64_t messages;
    Count parts_sent;
    std::int64_t operations;  ///< -1: not counted, as an application to two pieces of a block counts twice
    Count parts_combined;
};

void expect_on_every_rank(const Outcome& outcome, const Figures& figures) {
    for (const auto& rank : outcome.ranks) {
        EXPECT_EQ(rank.sent, figures.messages);
        EXPECT_EQ(rank.received, figures.messages);
        EXPECT_EQ(rank.volume, figures.parts_sent * per_part);
        if (figures.operations >= 0) EXPECT_EQ(rank.operations, figures.operations);
        EXPECT_EQ(rank.combined, figures.parts_combined * per_part);
    }
}

/// Calls `body(p)` for every number of ranks.
void for_every_size(const std::function<void(Rank)>& body) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        body(p);
        if (testing::Test::HasFailure()) return;
    }
}

/// Most of the vector in the part of one rank, nothing in those of some.
std::vector<Count> skewed_starts(Rank size) { return divisions(size, Count{size} * per_part)[2]; }

TEST(ring, takes_p_minus_1_rounds_with_one_part_in_each) {
    for_every_size([](Rank p) {
        const Outcome gather = PartsRun{"allgather", "ring", p}.outcome();
        EXPECT_EQ(gather.time, p - 1);
        expect_on_every_rank(gather, {p - 1, p - 1, 0, 0});
        const Outcome reduce = PartsRun{"reduce_scatter", "ring", p}.outcome();
        EXPECT_EQ(reduce.time, p - 1);
        expect_on_every_rank(reduce, {p - 1, p - 1, p - 1, p - 1});
        const Outcome both = PartsRun{"allreduce", "ring", p}.outcome();
        EXPECT_EQ(both.time, 2 * (p - 1));
        expect_on_every_rank(both, {Count{2} * (p - 1), Count{2} * (p - 1), p - 1, p - 1});
    });
}

TEST(ring, takes_a_round_for_every_segment_of_a_part) {
    for (const Rank p : {2, 3, 4, 7, 16, 33}) {
        SCOPED_TRACE(p);
        const std::vector<Setting> one_element = {{"segment", element_bytes}};
        EXPECT_EQ((PartsRun{"allgather", "ring", p, one_element}.outcome().time), per_part * (p - 1));
        EXPECT_EQ((PartsRun{"reduce_scatter", "ring", p, one_element}.outcome().time), per_part * (p - 1));
        const Outcome both = PartsRun{"allreduce", "ring", p, one_element}.outcome();
        EXPECT_EQ(both.time, 2 * per_part * (p - 1));
        const Count messages = per_part * (p - 1);
        expect_on_every_rank(both, {2 * messages, Count{2} * (p - 1), messages, p - 1});
    }
}

TEST(allgather, takes_ceil_log2_p_messages_where_parts_double) {
    for_every_size([](Rank p) {
        for (const char* name : {"bruck", "circulant"}) {
            const Outcome outcome = PartsRun{"allgather", name, p}.outcome();
            EXPECT_EQ(outcome.time, ceil_log2(p)) << name;
            expect_on_every_rank(outcome, {ceil_log2(p), p - 1, 0, 0});
        }
    });
}

/// Elements that all ranks send together.
Count whole_volume(const Outcome& outcome) {
    return std::accumulate(outcome.ranks.begin(), outcome.ranks.end(), Count{0},
                           [](Count sum, const auto& rank) { return sum + rank.volume; });
}

TEST(allgather, brings_every_part_to_every_rank_once) {
    for_every_size([](Rank p) {
        for (const char* name : {"all_broadcast", "bruck", "circulant", "ring"}) {
            const PartsRun run{"allgather", name, p, {}, skewed_starts(p)};
            EXPECT_EQ(whole_volume(run.outcome()), (p - 1) * run.count()) << name;
        }
    });
}

TEST(allgather_all_broadcast, takes_blocks_minus_1_plus_ceil_log2_p_rounds) {
    for_every_size([](Rank p) {
        for (const Count blocks : {1, 2, 3}) {
            const Outcome outcome = PartsRun{"allgather", "all_broadcast", p, {{"blocks", blocks}}}.outcome();
            EXPECT_EQ(outcome.time, static_cast<double>(blocks - 1 + ceil_log2(p)));
            EXPECT_LE(outcome.ranks.front().sent, blocks - 1 + ceil_log2(p));
            EXPECT_EQ(whole_volume(outcome), Count{p - 1} * p * per_part);
        }
    });
}

TEST(allgather_all_broadcast, has_messages_of_one_blocks_share_of_the_vector_however_the_parts_differ) {
    constexpr CostModel by_volume{.alpha = 0, .beta = 1.0 / element_bytes};
    constexpr Count blocks = 10, count = 600;
    for (const Rank p : {2, 3, 5, 8, 17, 36, 64}) {
        for (const std::vector<Count>& starts : divisions(p, count)) {
            SCOPED_TRACE(p);
            PartsRun run{"allgather", "all_broadcast", p, {{"blocks", blocks}}, starts, by_volume};
            if (starts.empty()) continue;
            // A block is longer than its share by less than one element, and there are p - 1 in a message.
            const Count largest = count / blocks + p - 1;
            EXPECT_LE(run.outcome().time, static_cast<double>((blocks - 1 + ceil_log2(p)) * largest));
        }
    }
}

TEST(reduce_scatter_pairwise, takes_p_minus_1_rounds_and_operations) {
    for_every_size([](Rank p) {
        const Outcome outcome = PartsRun{"reduce_scatter", "pairwise", p}.outcome();
        EXPECT_EQ(outcome.time, p - 1);
        expect_on_every_rank(outcome, {p - 1, p - 1, p - 1, p - 1});
    });
}

TEST(reduce_scatter_circulant, takes_ceil_log2_p_rounds_and_p_minus_1_parts) {
    for_every_size([](Rank p) {
        const Outcome outcome = PartsRun{"reduce_scatter", "circulant", p}.outcome();
        EXPECT_EQ(outcome.time, ceil_log2(p));
        expect_on_every_rank(outcome, {ceil_log2(p), p - 1, -1, p - 1});
        // In the first round, what a rank keeps may lie in two pieces.
        EXPECT_LE(outcome.most_operations(), ceil_log2(p) + 1);
    });
}

TEST(reduce_scatter_circulant, sends_every_part_but_the_own_once_however_they_differ) {
    for_every_size([](Rank p) {
        const PartsRun run{"reduce_scatter", "circulant", p, {}, skewed_starts(p)};
        const Outcome outcome = run.outcome();
        EXPECT_LE(outcome.time, ceil_log2(p));
        for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
            const Count own = run.starts[rank + 1] - run.starts[rank];
            EXPECT_EQ(outcome.ranks[rank].volume, run.count() - own);
        }
    });
}

TEST(reduce_scatter_butterfly, takes_about_log2_p_rounds) {
    for_every_size([](Rank p) {
        const auto power = static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(p)));
        const int halvings = ceil_log2(power);
        const Outcome outcome = PartsRun{"reduce_scatter", "butterfly", p}.outcome();
        if (p == power) {
            EXPECT_EQ(outcome.time, halvings + (p > 2 ? 1 : 0));
            EXPECT_EQ(outcome.most_operations(), halvings);
            for (const auto& rank : outcome.ranks) EXPECT_EQ(rank.combined, (p - 1) * per_part);
            EXPECT_LE(outcome.most_volume(), p * per_part);
            return;
        }
        // The sums of the first part come out where they belong: if its pair is the only one, nothing waits for it.
        EXPECT_EQ(outcome.time, halvings + (p - power > 1 ? 3 : 2));
        EXPECT_EQ(outcome.most_operations(), halvings + 1);
        EXPECT_LE(outcome.most_volume(), (p + 1) * per_part);
        // The pairs, of two parts each, are the first to be kept.
        Rank most_parts = p;
        for (Rank kept = power / 2; kept > 0; kept /= 2) most_parts += kept + std::min(kept, p - power);
        for (const auto& rank : outcome.ranks) EXPECT_LE(rank.combined, most_parts * per_part);
    });
}

TEST(allreduce_circulant, takes_twice_ceil_log2_p_rounds_and_the_least_volume_for_every_p) {
    for_every_size([](Rank p) {
        const Outcome outcome = PartsRun{"allreduce", "circulant", p}.outcome();
        EXPECT_EQ(outcome.time, 2 * ceil_log2(p));
        expect_on_every_rank(outcome, {Count{2} * ceil_log2(p), Count{2} * (p - 1), -1, p - 1});
    });
}

}  // namespace
}  // namespace rondo::conformance
