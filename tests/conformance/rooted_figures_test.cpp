// SPDX-License-Identifier: BSD-3-Clause
// Rounds, messages and volume of scatter and gather, and of broadcasts along the same ranges, counted by execution and
// held against the papers' formulas.
#include <functional>

#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::Outcome;

const Rank largest_size = Width{.brief = 33, .everyday = 70, .full = 200}();

constexpr Count per_part = 3;

Outcome run(const char* collective, const char* name, Rank size, Rank root, const std::vector<Setting>& settings) {
    const Collective& of = *find_collective(collective);
    const SharedFacts facts =
        of.facts({.size = size, .count = size * per_part, .element_bytes = element_bytes, .root = root});
    return virtual_machine::run_lock_step({*of.algorithm(name), facts, settings});
}

/// `k`: the ports; 0: the algorithm has none.
Outcome run(const char* collective, const char* name, Rank size, Rank root, Count k = 0) {
    return run(collective, name, size, root, k == 0 ? std::vector<Setting>{} : std::vector<Setting>{{"ports", k}});
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
                for (const Count at_once : {0, 1}) {
                    const Outcome outcome = run("bcast", "k_ported", p, root, {{"ports", k}, {"at_once", at_once}});
                    ASSERT_LE(outcome.time, ceil_log(k + 1, p));
                    if (at_once == 0) ASSERT_EQ(outcome.time, ceil_log(k + 1, p));
                    for (Rank rank = 0; rank < p; ++rank) {
                        ASSERT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].received, rank == root ? 0 : 1);
                    }
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

struct Shape {
    Rank nodes, ranks;
};
constexpr Shape shapes[] = {{2, 2}, {4, 4}, {3, 5}, {8, 3}, {5, 1}, {1, 4}, {16, 2}};

/// `body(shape, facts, placement)` for shapes of nodes and some roots on each.
void for_some_shapes(const std::function<void(Shape, const SharedFacts&, const Placement&)>& body) {
    for (const auto& [nodes, ranks] : shapes) {
        const Placement placement = Placement::regular(nodes, ranks);
        for (const Rank root : {0, nodes * ranks / 3, nodes * ranks - 1}) {
            SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks << ", root " << root);
            body({nodes, ranks},
                 {.size = nodes * ranks,
                  .count = Count{nodes} * ranks * per_part,
                  .element_bytes = element_bytes,
                  .root = root,
                  .placement = &placement},
                 placement);
        }
    }
}

Outcome full_lane(const char* collective, const SharedFacts& facts, Count overlap) {
    const Collective& of = *find_collective(collective);
    const std::vector<Setting> settings = {{"overlap", overlap}};
    return virtual_machine::run_lock_step({*of.algorithm("full_lane"), of.facts(facts), settings});
}

constexpr Count never = Count{1} << 40, always = 1;

/// One message at a time, whatever the node.
TEST(scatter_and_gather_full_lane, take_the_rounds_of_a_node_and_of_a_lane) {
    for_some_shapes([](Shape shape, const SharedFacts& facts, const Placement& /*placement*/) {
        const int rounds = ceil_log2(shape.nodes) + ceil_log2(shape.ranks);
        EXPECT_EQ(full_lane("scatter", facts, never).time, rounds);
        EXPECT_EQ(full_lane("gather", facts, never).time, rounds);
    });
}

TEST(scatter_and_gather_full_lane, move_every_part_once_from_node_to_node_where_nodes_and_lanes_overlap) {
    for_some_shapes([](Shape shape, const SharedFacts& facts, const Placement& placement) {
        const Outcome scatter = full_lane("scatter", facts, always), gather = full_lane("gather", facts, always);
        const Rank root_node = placement.place(facts.root).node;
        for (Rank rank = 0; rank < facts.size; ++rank) {
            const auto& scattering = scatter.ranks[static_cast<std::size_t>(rank)];
            const auto& gathering = gather.ranks[static_cast<std::size_t>(rank)];
            // A rank of the root's node has a message for its counterpart on each other node; the root, besides, all
            // of these messages of the others, and their parts.
            const Count own = rank == facts.root ? Count{shape.nodes} * shape.ranks - 1 : shape.nodes - 1;
            const Count messages = placement.place(rank).node == root_node ? own : 0;
            EXPECT_EQ(scattering.sent, messages);
            EXPECT_EQ(scattering.volume, messages * per_part);
            EXPECT_EQ(gathering.received, messages);
            EXPECT_EQ(gathering.sent, scattering.received);
        }
    });
}

/// Four nodes of four ranks and two lanes, where the root moves as much inside its node as both lanes carry: one phase
/// after the other takes (3/4 + 3/4) / 2 of the vector's time on a lane; both at once take half of it, but for the
/// first message, or the last. Long messages, because these wait for one another.
TEST(scatter_and_gather_full_lane, let_nodes_and_lanes_work_at_once) {
    const Placement placement = Placement::regular(4, 4);
    const virtual_machine::CostModel costs{
        .alpha = 0, .beta = 1, .inside = virtual_machine::LinkCosts{.alpha = 0, .beta = 0.5}, .lanes = 2};
    for (const char* collective : {"scatter", "gather"}) {
        SCOPED_TRACE(collective);
        const Collective& of = *find_collective(collective);
        const SharedFacts facts = of.facts({.size = 16, .count = 4 << 20, .element_bytes = 1, .placement = &placement});
        const auto time = [&](Count overlap) {
            const std::vector<Setting> settings = {{"overlap", overlap}};
            return virtual_machine::run_dataflow({*of.algorithm("full_lane"), facts, settings}, {.costs = costs}).time /
                   static_cast<double>(facts.bytes());
        };
        EXPECT_GE(time(never), 0.65);
        EXPECT_LE(time(Count{256} << 10), 0.5);
        EXPECT_GE(time(Count{257} << 10), 0.65);
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
