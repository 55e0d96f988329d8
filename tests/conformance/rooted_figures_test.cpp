// SPDX-License-Identifier: BSD-3-Clause
// Rounds, messages and volume of scatter and gather, and of broadcasts along the same ranges, counted by execution and
// held against the papers' formulas.
#include <functional>

#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::Outcome;

const Rank largest_size = Width{.brief = 33, .everyday = 70, .full = 200}();

constexpr Count per_part = 3;

/// k: 0 for algorithms without ports.
Outcome run(const char* collective, const char* name, Rank size, Rank root, Count k = 0) {
    const Collective& of = *find_collective(collective);
    const std::vector<Setting> settings = k == 0 ? std::vector<Setting>{} : std::vector<Setting>{{"ports", k}};
    const SharedFacts facts =
        of.facts({.size = size, .count = size * per_part, .element_bytes = element_bytes, .root = root});
    return virtual_machine::run_lock_step({*of.algorithm(name), facts, settings});
}

/// Calls `body(p, root)` for every number of ranks with some roots.
void for_every_size(const std::function<void(Rank, Rank)>& body) {
    for (Rank p = 1; p <= largest_size; ++p) {
        for (const Rank root : {0, p / 3, p - 1}) {
            SCOPED_TRACE(testing::Message() << p << " ranks, root " << root);
            body(p, root);
            if (testing::Test::HasFailure()) return;
        }
    }
}

int ceil_log(std::int64_t base, std::int64_t n) {
    int log = 0;
    for (std::int64_t power = 1; power < n; power *= base) ++log;
    return log;
}

/// Every rank but the root hears once (or speaks once), and nothing leaves the root, or comes there, twice.
void expect_one_message_for_each_rank(const Outcome& scatter, const Outcome& gather, Rank root) {
    const auto p = static_cast<Rank>(scatter.ranks.size());
    Count brought = 0;
    for (Rank rank = 0; rank < p; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        EXPECT_EQ(scatter.ranks[at].received, rank == root ? 0 : 1);
        EXPECT_EQ(gather.ranks[at].sent, rank == root ? 0 : 1);
        EXPECT_EQ(scatter.ranks[at].sent, gather.ranks[at].received);
        if (rank != root) brought += gather.ranks[at].volume;
    }
    Count given = 0;
    for (const auto& rank : scatter.ranks) given += rank.volume;
    EXPECT_EQ(scatter.ranks[static_cast<std::size_t>(root)].volume, (p - 1) * per_part);
    EXPECT_EQ(given, brought);
}

TEST(scatter_and_gather_binomial, take_ceil_log2_p_rounds_and_bring_every_part_once) {
    for_every_size([](Rank p, Rank root) {
        const Outcome scatter = run("scatter", "binomial", p, root), gather = run("gather", "binomial", p, root);
        EXPECT_EQ(scatter.time, ceil_log2(p));
        EXPECT_EQ(gather.time, ceil_log2(p));
        expect_one_message_for_each_rank(scatter, gather, root);
    });
}

TEST(scatter_and_gather_k_ported, take_ceil_log_of_p_rounds_to_the_base_k_plus_1) {
    for (const Rank k : {1, 2, 3, 5, 8}) {
        for_every_size([k](Rank p, Rank root) {
            const Outcome scatter = run("scatter", "k_ported", p, root, k),
                          gather = run("gather", "k_ported", p, root, k);
            EXPECT_EQ(scatter.time, ceil_log(k + 1, p)) << "k " << k;
            EXPECT_EQ(gather.time, ceil_log(k + 1, p)) << "k " << k;
            expect_one_message_for_each_rank(scatter, gather, root);
        });
    }
}

TEST(bcast_k_ported, takes_ceil_log_of_p_rounds_to_the_base_k_plus_1_from_every_root) {
    for (Rank k = 1; k <= 8; ++k) {
        for (Rank p = 1; p <= 32; ++p) {
            for (Rank root = 0; root < p; ++root) {
                SCOPED_TRACE(testing::Message() << p << " ranks, root " << root << ", k " << k);
                const Outcome outcome = run("bcast", "k_ported", p, root, k);
                ASSERT_EQ(outcome.time, ceil_log(k + 1, p));
                for (Rank rank = 0; rank < p; ++rank) {
                    ASSERT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].received, rank == root ? 0 : 1);
                }
            }
        }
    }
}

struct CallOnNodes {
    const char* collective;
    const Placement& placement;
    Rank root;
    std::vector<Setting> settings;

    [[nodiscard]] double k_lane(double within) const {
        const virtual_machine::CostModel costs{.alpha = 1, .inside = virtual_machine::LinkCosts{.alpha = within}};
        const Collective& of = *find_collective(collective);
        const SharedFacts facts = of.facts({.size = placement.size(),
                                            .count = placement.size() * per_part,
                                            .element_bytes = element_bytes,
                                            .root = root,
                                            .placement = &placement});
        return virtual_machine::run_lock_step({*of.algorithm("k_lane"), facts, settings}, costs).time;
    }
};

/// Calls `body(placement, root, k)` for nodes of every number of ranks.
void for_every_nodes(const std::function<void(const Placement&, Rank, Rank)>& body) {
    const Rank most = Width{.brief = 12, .everyday = 32, .full = 64}();
    for (Rank k = 1; k <= 8; ++k) {
        for (Rank nodes = 1; nodes <= most; ++nodes) {
            for (Rank ranks = 1; ranks <= most / nodes; ++ranks) {
                const Placement placement = Placement::regular(nodes, ranks);
                for (Rank root = 0; root < placement.size(); ++root) {
                    SCOPED_TRACE(testing::Message()
                                 << nodes << " nodes of " << ranks << ", root " << root << ", k " << k);
                    body(placement, root, k);
                    if (testing::Test::HasFailure()) return;
                }
            }
        }
    }
}

TEST(bcast_k_lane, takes_ceil_log_of_the_nodes_rounds_to_the_base_k_plus_1_from_every_root) {
    for_every_nodes([](const Placement& placement, Rank root, Rank k) {
        const Rank nodes = placement.nodes(), ranks = placement.most_on_node();
        const int rounds = ceil_log(k + 1, nodes), turns = (std::min(k, std::max(1, nodes - 1)) - 1) / ranks + 1;
        for (const Count whole_node : {0, 1}) {
            const CallOnNodes call{"bcast", placement, root, {{"ports", k}, {"whole_node", whole_node}}};
            if (turns == 1) EXPECT_EQ(call.k_lane(0), rounds);
            else EXPECT_LE(call.k_lane(0), rounds * turns);
            // Before it goes on, the vector goes to the ports, or the ranks, of a node; in the end to its other ranks.
            const int to_senders = ceil_log2(whole_node == 1 ? ranks : std::min(k, ranks));
            EXPECT_LE(call.k_lane(1), rounds * (turns + to_senders) + ceil_log2(ranks));
        }
    });
}

TEST(scatter_and_gather_k_lane, take_ceil_log_of_the_nodes_rounds_to_the_base_k_plus_1) {
    for_every_nodes([](const Placement& placement, Rank root, Rank k) {
        if (root % 5 != 0 || k > placement.most_on_node()) return;
        const int rounds = ceil_log(k + 1, placement.nodes());
        EXPECT_EQ((CallOnNodes{"scatter", placement, root, {{"ports", k}}}.k_lane(0)), rounds);
        EXPECT_EQ((CallOnNodes{"gather", placement, root, {{"ports", k}}}.k_lane(0)), rounds);
    });
}

/// One message at a time, whatever the node.
TEST(scatter_and_gather_full_lane, take_the_rounds_of_a_node_and_of_a_lane) {
    const Collective &scatter = *find_collective("scatter"), &gather = *find_collective("gather");
    for (const auto& [nodes, ranks] : {std::pair{2, 2}, {4, 4}, {3, 5}, {8, 3}, {5, 1}, {1, 4}, {16, 2}}) {
        SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks);
        const Placement placement = Placement::regular(nodes, ranks);
        for (const Rank root : {0, nodes * ranks / 3, nodes * ranks - 1}) {
            const SharedFacts facts{.size = nodes * ranks,
                                    .count = Count{nodes} * ranks * per_part,
                                    .element_bytes = element_bytes,
                                    .root = root,
                                    .placement = &placement};
            const int rounds = ceil_log2(nodes) + ceil_log2(ranks);
            const auto time = [&](const Collective& of) {
                return virtual_machine::run_lock_step({*of.algorithm("full_lane"), of.facts(facts), {}}).time;
            };
            EXPECT_EQ(time(scatter), rounds);
            EXPECT_EQ(time(gather), rounds);
        }
    }
}

TEST(scatter_and_gather_linear, take_a_message_for_each_other_rank) {
    for_every_size([](Rank p, Rank root) {
        const Outcome scatter = run("scatter", "linear", p, root), gather = run("gather", "linear", p, root);
        EXPECT_EQ(scatter.time, p - 1);
        EXPECT_EQ(gather.time, p - 1);
        expect_one_message_for_each_rank(scatter, gather, root);
    });
}

}  // namespace
}  // namespace rondo::conformance
