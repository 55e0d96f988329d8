// SPDX-License-Identifier: BSD-3-Clause
// Steps, volume and operations of the tree, pipeline and circulant algorithms, counted by execution and held against
// the papers' formulas; and what they come to in time.
#include <cmath>
#include <set>
#include <utility>

#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::CostModel;
using virtual_machine::Outcome;

const Rank largest_size = Width{.brief = 40, .everyday = 200, .full = 200}();

/// Every number of ranks that is small, and some of the others.
Rank next(Rank p) { return p < 40 ? p + 1 : p + 7; }

/// A call whose vector has `segments` segments of `per_segment` elements.
struct Pipeline {
    const char* collective;
    const char* name;
    Rank size;
    Count segments;
    bool commutative = true;
    Rank root = 0;
    Count per_segment = 3;
    std::vector<Setting> more = {};
    CostModel costs = {};

    [[nodiscard]] Count count() const { return segments * per_segment; }
    template <class Execution>
    [[nodiscard]] auto run(Execution&& execution) const {
        const AlgorithmInfo* algorithm = find_collective(collective)->algorithm(name);
        std::vector<Setting> settings = algorithm->standard_settings();
        for (Setting& setting : settings) {
            if (setting.name == "segment") setting.value = per_segment * element_bytes;
            for (const Setting& other : more) {
                if (setting.name == other.name) setting.value = other.value;
            }
        }
        const SharedFacts facts = find_collective(collective)
                                      ->facts({.size = size,
                                               .count = count(),
                                               .element_bytes = element_bytes,
                                               .root = root,
                                               .op = {commutative}});
        EXPECT_EQ(algorithm->refusal(facts, settings), std::nullopt);
        return execution(virtual_machine::Problem{*algorithm, facts, settings});
    }
    [[nodiscard]] Outcome outcome() const {
        return run(
            [&](const virtual_machine::Problem& problem) { return virtual_machine::run_lock_step(problem, costs); });
    }
    [[nodiscard]] virtual_machine::Trace trace() const {
        return run(
            [&](const virtual_machine::Problem& problem) { return virtual_machine::trace(problem, {.costs = costs}); });
    }
};

/// A rank sends the vector at most `times` times.
void expect_volume(const Pipeline& run, const Outcome& outcome, double times) {
    EXPECT_LE(static_cast<double>(outcome.most_volume()), times * static_cast<double>(run.count()));
}

TEST(binomial, takes_ceil_log2_p_rounds) {
    for (Rank p = 1; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        EXPECT_EQ((Pipeline{"bcast", "binomial", p, 1, true, p / 3}.outcome().time), ceil_log2(p));
        EXPECT_EQ((Pipeline{"reduce", "binomial", p, 1, true, p / 3}.outcome().time), ceil_log2(p));
        const Outcome in_order = Pipeline{"reduce", "binomial", p, 1, false, p - 1}.outcome();
        EXPECT_EQ(in_order.time, ceil_log2(p) + (p > 1 ? 1 : 0));
        EXPECT_EQ(in_order.most_operations(), ceil_log2(p));
    }
}

TEST(circulant, takes_blocks_minus_1_plus_ceil_log2_p_rounds_for_every_p) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count blocks : {1, 2, 5, 9, 50}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " blocks=" << blocks);
            const double rounds = static_cast<double>(blocks - 1 + ceil_log2(p));
            const Pipeline bcast{"bcast", "circulant", p, blocks, true, p / 2},
                reduce{"reduce", "circulant", p, blocks};
            EXPECT_EQ(bcast.outcome().time, rounds);
            EXPECT_EQ(reduce.outcome().time, rounds);
            // Everybody but the root gets every block once, or gives it once.
            for (const Outcome& outcome : {bcast.outcome(), reduce.outcome()}) {
                std::int64_t messages = 0;
                for (const auto& rank : outcome.ranks) messages += rank.sent;
                EXPECT_EQ(messages, std::int64_t{p - 1} * blocks);
            }
        }
    }
}

TEST(linear_pipeline, takes_p_minus_2_rounds_and_one_per_segment_also_with_a_root) {
    for (const Rank p : {2, 3, 4, 5, 8, 17, 36, 64}) {
        for (const Count segments : {1, 2, 5, 9, 50}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " segments=" << segments);
            for (const char* collective : {"bcast", "reduce"}) {
                const Pipeline run{collective, "linear_pipeline", p, segments, true, p / 2};
                EXPECT_EQ(run.outcome().time, static_cast<double>(p - 2 + segments));
                expect_volume(run, run.outcome(), 1);
            }
            EXPECT_EQ((Pipeline{"reduce", "linear_pipeline", p, segments, false, 0}.outcome().time),
                      static_cast<double>(p - 2 + segments));
        }
    }
}

TEST(pipelined_binary_tree, takes_two_steps_for_a_segment_and_a_level) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count segments : {1, 2, 9, 50}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " segments=" << segments);
            for (const char* collective : {"bcast", "reduce"}) {
                const Pipeline run{collective, "pipelined_binary_tree", p, segments};
                EXPECT_LE(run.outcome().time, static_cast<double>(Count{2} * ceil_log2(p) + 2 * segments));
                expect_volume(run, run.outcome(), 2);
            }
        }
    }
}

TEST(pipelined_binary_tree, is_less_deep_as_a_fibonacci_tree) {
    for (const Rank p : {20, 54, 88, 143, 200}) {
        if (p > largest_size) return;
        const Pipeline balanced{"bcast", "pipelined_binary_tree", p, 1};
        Pipeline fibonacci = balanced;
        fibonacci.more = {{"tree", 1}};
        // log_phi p against 2 log2 p: 1.44 against 2.
        EXPECT_LE(fibonacci.outcome().time, std::ceil(std::log(p * std::sqrt(5.0)) / std::log(1.618)) - 1);
        EXPECT_LT(fibonacci.outcome().time, balanced.outcome().time);
    }
}

/// Three steps for a segment: a reduction and a broadcast along one tree take four.
TEST(dual_root, takes_three_steps_for_a_segment_and_four_for_a_level) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count segments : {1, 2, 9, 50}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " segments=" << segments);
            const Pipeline run{"allreduce", "dual_root", p, segments, false};
            const Outcome outcome = run.outcome();
            const double bound = static_cast<double>(4 * ceil_log2(p + 2) - 7 + 3 * (segments - 1));
            EXPECT_LE(outcome.time, bound);
            if (p > 4 && 1 << ceil_log2(p + 2) == p + 2) EXPECT_EQ(outcome.time, bound);
            EXPECT_LE(outcome.most_operations(), 3 * segments);
            expect_volume(run, outcome, 3);
        }
    }
}

TEST(split_tree, sends_one_and_a_half_vectors) {
    for (Rank p = 2; p <= largest_size; p += 3) {
        const Pipeline run{"bcast", "split_tree", p, 40};
        SCOPED_TRACE(p);
        expect_volume(run, run.outcome(), 1.5);
        EXPECT_LE(run.outcome().time, 40 + 20 + 2 * ceil_log2(p) + 3);
    }
}

TEST(scatter_allgather, takes_ceil_log2_p_rounds_and_p_minus_1_or_log2_p_more) {
    for (Rank p = 2; p <= std::min<Rank>(largest_size, 70); ++p) {
        SCOPED_TRACE(p);
        const Pipeline ring{"bcast", "scatter_allgather", p, p};
        EXPECT_LE(ring.outcome().time, ceil_log2(p) + p - 1);
        expect_volume(ring, ring.outcome(), 2);
        if ((p & (p - 1)) != 0) continue;
        Pipeline doubling = ring;
        doubling.more = {{"doubling", 1}};
        EXPECT_EQ(doubling.outcome().time, 2 * ceil_log2(p));
    }
}

/// Of the trees with the root above them: with an odd rank as a leaf it needs no level of its own.
int height_with_root(Rank p, bool odd_rank_is_root) {
    const Rank trees = p - 1;
    if (trees % 2 == 0) return ceil_log2(trees + 2);
    return odd_rank_is_root ? 1 + ceil_log2(trees + 1) : ceil_log2(trees + 1) + 1;
}

TEST(two_tree, takes_at_most_2h_plus_2k_steps) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count k : {1, 2, 5, 30}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " k=" << k);
            const Pipeline bcast{"bcast", "two_tree", p, 2 * k, true, p / 2};
            EXPECT_LE(bcast.outcome().time, static_cast<double>(Count{2} * height_with_root(p, false) + 2 * k));
            expect_volume(bcast, bcast.outcome(), 1);
            const Pipeline reduce{"reduce", "two_tree", p, 2 * k, true, p / 2};
            EXPECT_LE(reduce.outcome().time, static_cast<double>(Count{2} * height_with_root(p, false) + 2 * k));
            expect_volume(reduce, reduce.outcome(), 1);
            const Pipeline in_order{"reduce", "two_tree", p, 2 * k, false, p - 1};
            EXPECT_LE(in_order.outcome().time, static_cast<double>(Count{2} * height_with_root(p, true) + 2 * k));
            expect_volume(in_order, in_order.outcome(), 1);
        }
    }
}

/// Of what `phases` phases of full duplex take, with nobody who sends and receives in the same step.
void expect_twice_the_time(Pipeline run, int phases) {
    SCOPED_TRACE(testing::Message() << run.collective << " p=" << run.size << " commutative=" << run.commutative);
    run.more = {{"simplex", 1}};
    const virtual_machine::Trace trace = run.trace();
    const double segments = static_cast<double>(run.segments);
    EXPECT_LE(trace.outcome.time, 2.0 * phases * (2 * height_with_root(run.size, true) + segments));
    std::set<std::pair<Rank, std::int64_t>> sending;
    for (const auto& message : trace.messages) sending.insert({message.from, message.step_from});
    for (const auto& message : trace.messages) EXPECT_FALSE(sending.contains({message.to, message.step_to}));
    for (const auto& rank : trace.outcome.ranks) EXPECT_LE(rank.sent + rank.received, 2 * run.segments * phases);
}

TEST(two_tree, takes_twice_as_long_if_nobody_sends_and_receives_at_once) {
    for (Rank p = 3; p <= largest_size; p = next(p)) {
        expect_twice_the_time({"bcast", "two_tree", p, 60, true, p / 2}, 1);
        expect_twice_the_time({"reduce", "two_tree", p, 60, true, p / 2}, 1);
        expect_twice_the_time({"reduce", "two_tree", p, 60, false, p % 3 == 0 ? 0 : p - 1}, 1);
        expect_twice_the_time({"scan", "two_tree", p, 60, false}, 2);
        expect_twice_the_time({"exscan", "two_tree", p, 60, false}, 2);
    }
}

TEST(two_tree, scans_in_twice_the_steps_of_a_reduction) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count k : {1, 2, 5, 30}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " k=" << k);
            for (const char* collective : {"scan", "exscan"}) {
                const Pipeline run{collective, "two_tree", p, 2 * k, false};
                EXPECT_LE(run.outcome().time,
                          static_cast<double>(2 * (Count{2} * height_with_root(p + 1, true) + 2 * k)));
                expect_volume(run, run.outcome(), 2);
            }
        }
    }
}

TEST(doubly_pipelined_tree, takes_three_exchanges_for_a_segment) {
    for (Rank p = 2; p <= largest_size; p = next(p)) {
        for (const Count segments : {1, 5, 50}) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " segments=" << segments);
            for (const char* collective : {"scan", "exscan"}) {
                const Pipeline run{collective, "doubly_pipelined_tree", p, segments, false};
                EXPECT_LE(run.outcome().time, static_cast<double>(3 * segments + Count{4} * ceil_log2(p)));
            }
        }
    }
}

/// Elements a second of the best of some segment sizes: the count is the same for all.
double best_time(const char* collective, const char* name, Rank p, Count count) {
    const CostModel costs{.alpha = 1, .beta = 1.0 / 8};
    double best = HUGE_VAL;
    for (Count segments = 8; segments <= count / 8; segments *= 2) {
        const Pipeline run{.collective = collective,
                           .name = name,
                           .size = p,
                           .segments = segments,
                           .commutative = false,
                           .per_segment = count / segments,
                           .costs = costs};
        best = std::min(best, run.outcome().time);
    }
    return best;
}

TEST(two_tree, has_the_bandwidth_of_the_formulas) {
    constexpr Count count = 1 << 13;
    for (const Rank p : {8, 27, 28, 36}) {
        if (p > Width{.brief = 8, .everyday = 36, .full = 36}()) return;
        SCOPED_TRACE(p);
        for (const char* collective : {"bcast", "reduce"}) {
            const double two = best_time(collective, "two_tree", p, count);
            EXPECT_GE(best_time(collective, "pipelined_binary_tree", p, count), 1.6 * two);
            // beta m + 2 alpha h + sqrt(8 alpha beta m h), h with the root.
            const double h = height_with_root(p, true), m = count;
            EXPECT_LE(two, 1.02 * (m + 2 * h + std::sqrt(8 * m * h)));
        }
        for (const char* collective : {"scan", "exscan"}) {
            const double two = best_time(collective, "two_tree", p, count);
            EXPECT_GE(best_time(collective, "doubly_pipelined_tree", p, count), 1.25 * two);
        }
    }
}

}  // namespace
}  // namespace rondo::conformance
