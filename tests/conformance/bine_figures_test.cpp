// SPDX-License-Identifier: BSD-3-Clause
// Bine trees and butterflies: rounds, messages, volume and operations, and what they are for, the distances that the
// data travel, beside those of their binomial relatives.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
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

struct BineRun {
    const char* collective;
    const char* name;
    Rank size;
    Rank root = 0;
    bool commutative = true;
    Count per_rank = 1;

    [[nodiscard]] Trace trace() const {
        const Collective& of = *find_collective(collective);
        const AlgorithmInfo& algorithm = *of.algorithm(name);
        const SharedFacts facts = of.facts({.size = size,
                                            .count = size * per_rank,
                                            .element_bytes = element_bytes,
                                            .root = root,
                                            .op = {commutative}});
        return virtual_machine::trace({algorithm, facts, algorithm.standard_settings()}, {});
    }
    [[nodiscard]] Outcome outcome() const { return trace().outcome; }
};

/// Of all messages together: elements times `far(from, to)`.
double travelled(const BineRun& run, const std::function<double(Rank, Rank)>& far) {
    double sum = 0;
    for (const MessageEvent& message : run.trace().messages) {
        sum += static_cast<double>(message.source.count) * far(message.from, message.to);
    }
    return sum;
}

/// Around the circle of the ranks, the shorter way.
double distances(const BineRun& run) {
    return travelled(run, [&](Rank from, Rank to) {
        const Rank distance = std::abs(from - to);
        return std::min(distance, run.size - distance);
    });
}

/// Between groups of so many consecutive ranks, the mean over where the first one ends.
double between_groups(const BineRun& run, Rank group) {
    return travelled(run, [&](Rank from, Rank to) {
        return std::min(1.0, static_cast<double>(std::abs(from - to)) / static_cast<double>(group));
    });
}

bool is_power_of_two(Rank p) { return (p & (p - 1)) == 0; }
double rounds_of_power(Rank p) { return std::floor(std::log2(p)); }

/// Calls `body(p)` for every number of ranks from 2 on.
void for_every_size(const std::function<void(Rank)>& body) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        body(p);
        if (testing::Test::HasFailure()) return;
    }
}

/// Everyone but the root is at the other end of one message of the whole vector.
void expect_a_tree(const Outcome& outcome, Rank root, bool down) {
    for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
        const std::int64_t messages = rank == static_cast<std::size_t>(root) ? 0 : 1;
        EXPECT_EQ(down ? outcome.ranks[rank].received : outcome.ranks[rank].sent, messages);
    }
}

TEST(bine_tree, takes_ceil_log2_p_rounds_from_and_to_every_root) {
    for_every_size([](Rank p) {
        for (const Rank root : {Rank{0}, p / 3, p / 2, p - 1}) {
            const Outcome bcast = BineRun{"bcast", "bine_tree", p, root}.outcome();
            EXPECT_EQ(bcast.time, ceil_log2(p));
            expect_a_tree(bcast, root, true);
            for (const bool commutative : {false, true}) {
                const Outcome reduce = BineRun{"reduce", "bine_tree", p, root, commutative}.outcome();
                EXPECT_EQ(reduce.time, ceil_log2(p));
                EXPECT_LE(reduce.most_operations(), ceil_log2(p));
                expect_a_tree(reduce, root, false);
            }
        }
        EXPECT_EQ((BineRun{"allreduce", "bine_tree", p, 0, false}.outcome().time), 2 * ceil_log2(p));
    });
}

TEST(bine_butterfly, costs_what_halving_and_doubling_cost) {
    for_every_size([](Rank p) {
        for (const char* collective : {"allreduce", "reduce"}) {
            for (const Rank root : {Rank{0}, p / 2, p - 1}) {
                const Outcome bine = BineRun{collective, "bine_butterfly", p, root, true, 4}.outcome();
                const Outcome other = BineRun{collective, "halving_doubling", p, root, true, 4}.outcome();
                EXPECT_EQ(bine.time, other.time) << collective << " " << root;
                EXPECT_EQ(bine.most_operations(), other.most_operations());
                if (is_power_of_two(p)) EXPECT_EQ(bine.most_volume(), other.most_volume());
            }
        }
    });
}

TEST(bine_butterfly, broadcasts_in_twice_log2_p_rounds) {
    for_every_size([](Rank p) {
        for (const Rank root : {Rank{0}, Rank{1}, p / 2, p - 1}) {
            const Outcome outcome = BineRun{"bcast", "bine_butterfly", p, root}.outcome();
            EXPECT_EQ(outcome.time, 2 * rounds_of_power(p) + (is_power_of_two(p) ? 0 : 1));
            // Parts differ by an element at most.
            EXPECT_LE(outcome.most_volume(), (is_power_of_two(p) ? 2 : 3) * p + 2 * ceil_log2(p));
        }
    });
}

TEST(bine_butterfly, takes_ceil_log2_p_rounds_and_brings_every_part_once_to_an_even_number_of_ranks) {
    constexpr Count per_part = 3;
    for_every_size([](Rank p) {
        const Outcome gather = BineRun{"allgather", "bine_butterfly", p, 0, true, per_part}.outcome();
        const Outcome reduce = BineRun{"reduce_scatter", "bine_butterfly", p, 0, true, per_part}.outcome();
        for (const Outcome* outcome : {&gather, &reduce}) {
            EXPECT_EQ(outcome->time, p % 2 == 0 ? ceil_log2(p) : ceil_log2(p - 1) + 2);
            for (const auto& rank : outcome->ranks) {
                if (p % 2 == 0) {
                    EXPECT_EQ(rank.sent, ceil_log2(p));
                    EXPECT_EQ(rank.volume, (p - 1) * per_part);
                    EXPECT_EQ(rank.combined, outcome == &reduce ? (p - 1) * per_part : 0);
                } else {
                    // A pair has two parts, which go out in every round.
                    EXPECT_LE(rank.volume, (2 * p - 2 + ceil_log2(p - 1)) * per_part);
                    EXPECT_LE(rank.combined, (2 * p - 2 + ceil_log2(p - 1)) * per_part);
                }
            }
        }
    });
}

/// Two thirds of what the other one has; distances are whole numbers, so that each of the log2 p rounds may have up to
/// a third of an element's way more, and a number of ranks that cannot be halved to the end up to twice that.
double two_thirds(const BineRun& other, double extra) {
    return 2.0 / 3 * (1 + extra / std::log2(other.size)) * distances(other);
}

/// Also larger ones, where two thirds are closer.
void for_many_sizes(const std::function<void(Rank)>& body) {
    for_every_size([&](Rank p) {
        if (p >= 4) body(p);
    });
    for (const Rank p : {192, 255, 256, 300, 512, 1000}) {
        if (p > Width{.brief = 0, .everyday = 512, .full = 1000}()) return;
        SCOPED_TRACE(p);
        body(p);
    }
}

TEST(bine_tree, has_two_thirds_of_the_distances_of_a_binomial_tree) {
    for_many_sizes([](Rank p) {
        const double extra = is_power_of_two(p) ? 1 : 2;
        const double bound = two_thirds({"bcast", "binomial", p}, extra);
        for (const Rank root : {Rank{0}, p / 2, p - 1}) {
            EXPECT_LE(distances({"bcast", "bine_tree", p, root}), bound);
            EXPECT_LE(distances({"reduce", "bine_tree", p, root}), bound);
            // In rank order, the messages of the root itself may be longer.
            EXPECT_LE(distances({"reduce", "bine_tree", p, root, false}),
                      two_thirds({"reduce", "binomial", p}, extra + 2));
        }
        EXPECT_LE(distances({"allreduce", "bine_tree", p}), two_thirds({"allreduce", "binary_tree", p}, extra));
    });
}

TEST(bine_butterfly, has_two_thirds_of_the_distances_of_halving_and_doubling) {
    for_many_sizes([](Rank p) {
        const double extra = is_power_of_two(p) ? 1 : 2;
        for (const char* collective : {"allreduce", "reduce"}) {
            EXPECT_LE(distances({collective, "bine_butterfly", p}),
                      two_thirds({collective, "halving_doubling", p}, extra));
        }
    });
}

TEST(bine_butterfly, has_two_thirds_of_the_distances_of_other_allgathers_with_as_many_rounds) {
    for_many_sizes([](Rank p) {
        if (p % 2 == 1) return;
        const double gathered = distances({"allgather", "bine_butterfly", p});
        const double scattered = distances({"reduce_scatter", "bine_butterfly", p});
        EXPECT_EQ(gathered, scattered);
        EXPECT_LE(gathered, two_thirds({"allgather", "circulant", p}, 2));
        if (!is_power_of_two(p)) return;
        const double ratio = 2.0 / 3 + 1.0 / (p + 1);
        EXPECT_LE(gathered, ratio * distances({"allgather", "recursive_doubling", p}) + 1e-6);
        EXPECT_LE(scattered, ratio * distances({"reduce_scatter", "recursive_halving", p}) + 1e-6);
    });
}

/// Where groups begin anywhere, as in a share of a large machine. Where they are aligned powers of two, binomial trees
/// cross as few borders as can be.
TEST(bine, crosses_a_fifth_fewer_borders_of_groups_that_begin_anywhere) {
    constexpr Rank group = 30;
    const Rank p = is_sanitized ? 256 : 512;
    const double most = is_sanitized ? 0.84 : 0.8;
    const std::pair<BineRun, BineRun> pairs[] = {
        {{"bcast", "bine_tree", p}, {"bcast", "binomial", p}},
        {{"allreduce", "bine_tree", p}, {"allreduce", "binary_tree", p}},
        {{"allreduce", "bine_butterfly", p}, {"allreduce", "halving_doubling", p}},
        {{"reduce", "bine_butterfly", p}, {"reduce", "halving_doubling", p}},
    };
    for (const auto& [bine, other] : pairs) {
        EXPECT_LE(between_groups(bine, group), most * between_groups(other, group)) << bine.collective << bine.name;
    }
}

}  // namespace
}  // namespace rondo::conformance
