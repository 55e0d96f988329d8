// SPDX-License-Identifier: BSD-3-Clause
// The cost formulas of [rabenseifner2004collective], sections 3.3 to 3.7, term by term, held against lock step for
// every p. Where a formula below is not the paper's, a comment says how they differ; the one that is executed stands
// here.
#include <bit>
#include <cmath>
#include <utility>

#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::MessageEvent;
using virtual_machine::Outcome;
using virtual_machine::Trace;

const Rank largest_size = Width{.brief = 40, .everyday = 100, .full = 200}();

/// How often a run pays for what, at the slowest rank. Beta and gamma are per vector, not per byte. The paper has two
/// prices for messages: the bi-directional one where ranks send and receive at the same time, and another one.
struct Figures {
    double alpha = 0, alpha_uni = 0, beta = 0, beta_uni = 0, gamma = 0;

    friend Figures operator+(const Figures& a, const Figures& b) {
        return {a.alpha + b.alpha, a.alpha_uni + b.alpha_uni, a.beta + b.beta, a.beta_uni + b.beta_uni,
                a.gamma + b.gamma};
    }
};

/// The time of the messages of a lock-step run with other prices, in the same order.
double time_of_messages(const Trace& trace, const Figures& prices, Count count) {
    struct At {
        std::int64_t step = -1;
        double since = 0, until = 0;
    };
    std::vector<At> ranks(trace.outcome.ranks.size());
    std::vector<std::vector<unsigned char>> directions(ranks.size());  // of an exchange, by its step
    const auto note = [&](Rank rank, std::int64_t step, unsigned char direction) {
        auto& steps = directions[static_cast<std::size_t>(rank)];
        if (steps.size() <= static_cast<std::size_t>(step)) steps.resize(static_cast<std::size_t>(step) + 1);
        steps[static_cast<std::size_t>(step)] |= direction;
    };
    for (const MessageEvent& message : trace.messages) {
        note(message.from, message.step_from, 1);
        note(message.to, message.step_to, 2);
    }
    for (const MessageEvent& message : trace.messages) {
        const std::pair<Rank, std::int64_t> ends[] = {{message.from, message.step_from}, {message.to, message.step_to}};
        double start = 0;
        bool both_ways = false;
        for (const auto& end : ends) {
            At& at = ranks[static_cast<std::size_t>(end.first)];
            if (at.step != end.second) at = {end.second, at.until, at.until};
            start = std::max(start, at.since);
            both_ways =
                both_ways || directions[static_cast<std::size_t>(end.first)][static_cast<std::size_t>(end.second)] == 3;
        }
        const double vectors = static_cast<double>(message.source.count) / static_cast<double>(count);
        const double time =
            both_ways ? prices.alpha + prices.beta * vectors : prices.alpha_uni + prices.beta_uni * vectors;
        for (const auto& end : ends) {
            At& at = ranks[static_cast<std::size_t>(end.first)];
            at.until = std::max(at.until, start + time);
        }
    }
    double time = 0;
    for (const At& at : ranks) time = std::max(time, at.until);
    return time;
}

/// A call whose vector can be cut evenly.
struct Reduction {
    const char* collective;
    const char* name;
    Rank size;
    Count count;
    Rank root = 0;
    bool commutative = true;
    std::vector<Setting> settings = {};

    /// Prices of a message, and per vector.
    [[nodiscard]] Trace trace(double alpha, double beta, double gamma) const {
        const Collective* of = find_collective(collective);
        const AlgorithmInfo* algorithm = of->algorithm(name);
        const std::vector<Setting> used = settings.empty() ? algorithm->standard_settings() : settings;
        const SharedFacts facts = of->facts(
            {.size = size, .count = count, .element_bytes = element_bytes, .root = root, .op = {commutative}});
        const double bytes = static_cast<double>(facts.bytes());
        return virtual_machine::trace({*algorithm, facts, used},
                                      {.costs = {.alpha = alpha, .beta = beta / bytes, .gamma = gamma / bytes}});
    }
    [[nodiscard]] Outcome outcome() const { return trace(1, 0, 0).outcome; }
};

constexpr double rounding = 1e-9;

void expect(const Reduction& run, const Figures& figures) {
    SCOPED_TRACE(testing::Message() << run.collective << "/" << run.name << " p=" << run.size << " root=" << run.root);
    const Trace rounds = run.trace(1, 0, 0);
    EXPECT_EQ(rounds.outcome.time, figures.alpha + figures.alpha_uni);
    for (const double uni : {1.0, 0.5}) {  // full duplex, half duplex
        EXPECT_EQ(time_of_messages(rounds, {1, uni, 0, 0, 0}, run.count), figures.alpha + uni * figures.alpha_uni);
        EXPECT_NEAR(time_of_messages(rounds, {0, 0, 1, uni, 0}, run.count), figures.beta + uni * figures.beta_uni,
                    rounding);
    }
    EXPECT_NEAR(run.trace(0, 1, 0).outcome.time, figures.beta + figures.beta_uni, rounding);
    EXPECT_NEAR(run.trace(0, 0, 1).outcome.time, figures.gamma, rounding);
    EXPECT_NEAR(run.trace(1, 2, 3).outcome.time,
                figures.alpha + figures.alpha_uni + 2 * (figures.beta + figures.beta_uni) + 3 * figures.gamma,
                rounding);
}

/// All ranks together reduce no more than the total effort of section 3.1: (p-1) n gamma.
void expect_no_redundant_operations(const Reduction& run) {
    Count combined = 0;
    for (const auto& rank : run.outcome().ranks) combined += rank.combined;
    EXPECT_EQ(combined, (run.size - 1) * run.count) << run.name << " p=" << run.size;
}

int floor_log2(Rank p) { return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(p))) - 1; }
bool is_power_of_two(Rank p) { return (p & (p - 1)) == 0; }

TEST(cost_formulas, binary_tree) {
    for (Rank p = 2; p <= largest_size; ++p) {
        const double q = ceil_log2(p);
        expect({"reduce", "binomial", p, 6, p / 3}, {.alpha_uni = q, .beta_uni = q, .gamma = q});
        expect({"allreduce", "binary_tree", p, 6, 0, false}, {.alpha_uni = 2 * q, .beta_uni = 2 * q, .gamma = q});
    }
}

// The paper counts the first message of the fold, in which nobody receives, as bi-directional.
TEST(cost_formulas, recursive_doubling) {
    for (Rank p = 2; p <= largest_size; ++p) {
        const double q = floor_log2(p), fold = is_power_of_two(p) ? 0 : 1;
        expect({"allreduce", "recursive_doubling", p, 6, 0, false},
               {.alpha = q, .alpha_uni = 2 * fold, .beta = q, .beta_uni = 2 * fold, .gamma = q + fold});
    }
}

/// The first step of section 3.5.
Figures elimination(Rank p) {
    if (is_power_of_two(p)) return {};
    return {.alpha = 1, .alpha_uni = 1, .beta = 0.5, .beta_uni = 0.5, .gamma = 0.5};
}

Figures reduce_scatter_by_halving(Rank p) {
    const double q = floor_log2(p), all_but_a_part = 1 - std::exp2(-q);
    return {.alpha = q, .beta = all_but_a_part, .gamma = all_but_a_part};
}

// The paper counts the last message, to the eliminated ranks, as bi-directional: (2 lg p' + 2 + f_alpha) alpha.
TEST(cost_formulas, halving_and_doubling_for_allreduce) {
    for (Rank p = 2; p <= largest_size; ++p) {
        const Reduction run{"allreduce", "halving_doubling", p, Count{4} << floor_log2(p), 0, false};
        const double q = floor_log2(p), to_eliminated = is_power_of_two(p) ? 0 : 1;
        expect(
            run,
            elimination(p) + reduce_scatter_by_halving(p) +
                Figures{.alpha = q, .alpha_uni = to_eliminated, .beta = 1 - std::exp2(-q), .beta_uni = to_eliminated});
        expect_no_redundant_operations(run);
    }
}

TEST(cost_formulas, halving_and_doubling_for_reduce_to_any_root) {
    for (Rank p = 2; p <= largest_size; ++p) {
        // Roots that stay, that are eliminated, and that have no partner.
        for (const Rank root : {0, 1, p / 2, p - 1}) {
            const Reduction run{"reduce", "halving_doubling", p, Count{4} << floor_log2(p), root, false};
            const double q = floor_log2(p);
            expect(run, elimination(p) + reduce_scatter_by_halving(p) +
                            Figures{.alpha_uni = q, .beta_uni = 1 - std::exp2(-q)});
            expect_no_redundant_operations(run);
        }
    }
}

TEST(cost_formulas, ring) {
    for (Rank p = 2; p <= largest_size; ++p) {
        const double rounds = p - 1, all_but_a_part = rounds / p;
        const std::vector<Setting> whole_parts = {{"segment", p * element_bytes}};
        expect({.collective = "allreduce", .name = "ring", .size = p, .count = p, .settings = whole_parts},
               {.alpha = 2 * rounds, .beta = 2 * all_but_a_part, .gamma = all_but_a_part});
        expect({.collective = "reduce", .name = "ring", .size = p, .count = p, .root = p / 2, .settings = whole_parts},
               {.alpha = rounds,
                .alpha_uni = rounds,
                .beta = all_but_a_part,
                .beta_uni = all_but_a_part,
                .gamma = all_but_a_part});
    }
}

// The paper gives no formula for binary blocks of several sizes, only that the ratio of successive sizes decides.
TEST(cost_formulas, binary_blocks) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        const Reduction allreduce{"allreduce", "binary_blocks", p, Count{4} << floor_log2(p), 0, false};
        const Reduction reduce{"reduce", "binary_blocks", p, allreduce.count, p - 1, false};
        const int q = floor_log2(p);
        const double part = std::exp2(-q);
        if (is_power_of_two(p)) {
            expect(allreduce, reduce_scatter_by_halving(p) + Figures{.alpha = double(q), .beta = 1 - part});
            expect(reduce, reduce_scatter_by_halving(p) + Figures{.alpha_uni = double(q), .beta_uni = 1 - part});
            continue;
        }
        for (const Reduction& run : {allreduce, reduce}) {
            expect_no_redundant_operations(run);
            for (const auto& rank : run.outcome().ranks) EXPECT_LE(rank.combined, run.count);
            EXPECT_LE(2 * run.outcome().most_volume(), 5 * run.count);
        }
        const Rank smaller = p - (1 << q);
        if (!is_power_of_two(smaller)) continue;
        // Of two blocks, a rank of the smaller one sends to `ratio` ranks of the larger one, one after the other.
        const double ratio = std::exp2(q - floor_log2(smaller));
        EXPECT_EQ(allreduce.trace(1, 0, 0).outcome.time, 2 * q + std::max(4.0, ratio + 1));
        EXPECT_NEAR(allreduce.trace(0, 1, 0).outcome.time, 2 - 2 * part + std::max(4.0, 2 * ratio - 1) * part,
                    rounding);
        EXPECT_NEAR(allreduce.trace(0, 0, 1).outcome.time, 1, rounding);
    }
}

/// Of the trees over the other ranks, with rank 0 above them.
int height_of_two_trees(Rank p) {
    const Rank trees = p - 1;
    return trees % 2 == 0 ? ceil_log2(trees + 2) : 1 + ceil_log2(trees + 1);
}

// As long as the reduction and the broadcast one after the other: each of them keeps the ports busy.
TEST(cost_formulas, two_tree) {
    for (Rank p = 2; p <= largest_size; p += p < 40 ? 1 : 7) {
        for (const Count k : {1, 2, 5, 30}) {
            for (const bool commutative : {false, true}) {
                SCOPED_TRACE(testing::Message() << "p=" << p << " k=" << k << " commutative=" << commutative);
                const Reduction run{.collective = "allreduce",
                                    .name = "two_tree",
                                    .size = p,
                                    .count = Count{6} * k,
                                    .commutative = commutative,
                                    .settings = {{"segment", 3 * element_bytes}, {"second", 0}}};
                const Outcome outcome = run.outcome();
                EXPECT_LE(outcome.time, 2.0 * (2 * height_of_two_trees(p) + 2 * static_cast<double>(k)));
                EXPECT_LE(outcome.most_volume(), 2 * run.count);
            }
        }
    }
}

/// Groups of f ranks cost f-1 messages, and as many operations, for a factor f of p: never more than radix-1 for a
/// factor of radix.
TEST(cost_formulas, recursive_multiplying) {
    for (Rank p = 2; p <= largest_size; ++p) {
        for (Rank radix = 2; radix <= 8; ++radix) {
            SCOPED_TRACE(testing::Message() << "p=" << p << " radix=" << radix);
            const Reduction run{"allreduce", "recursive_multiplying", p, 6, 0, false, {{"radix", radix}}};
            const Outcome outcome = run.outcome();
            const double exponent = std::log(p) / std::log(radix), without_fold = (radix - 1) * exponent + rounding;
            EXPECT_LE(outcome.time, without_fold + 2);
            EXPECT_LE(static_cast<double>(outcome.most_operations()), without_fold + 1);
            if (std::abs(exponent - std::round(exponent)) > rounding) continue;
            const double messages = (radix - 1) * std::round(exponent);
            expect(run, {.alpha = messages, .beta = messages, .gamma = messages});
        }
    }
}

}  // namespace
}  // namespace rondo::conformance
