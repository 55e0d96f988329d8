// SPDX-License-Identifier: BSD-3-Clause
// One node that stands for all takes the time of all.
#include "rondo/backends/virtual/symmetry.hpp"

#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/backends/virtual/timing.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr LinkCosts memory = {.alpha = 5e-7, .beta = 1e-11, .overhead = 1e-7};
constexpr CostModel cost_models[] = {
    {.alpha = 2e-6, .beta = 8e-11, .gamma = 4e-11, .overhead = 5e-7, .eager = 4096, .rendezvous = 4e-6, .fluid = true},
    {.alpha = 2e-6,
     .beta = 8e-11,
     .gamma = 4e-11,
     .overhead = 5e-7,
     .inside = memory,
     .eager = 16384,
     .rendezvous = 4e-6,
     .fluid = true}};

TEST(Translations, are_groups) {
    for (const Rank nodes : {1, 2, 8, 12, 37, 768}) {
        const auto all = Translations::of(nodes);
        EXPECT_GE(all.size(), nodes == 1 || nodes == 2 || nodes == 37 ? 1 : 2) << nodes;
        for (const Translations& by : all) {
            for (Rank node = 0; node < nodes; ++node) {
                for (const Rank other : {0, 1, nodes / 2, nodes - 1}) {
                    const Rank sum = by.sum(node, other % nodes);
                    EXPECT_EQ(by.difference(sum, other % nodes), node);
                    EXPECT_EQ(by.sum(other % nodes, node), sum);
                }
            }
        }
    }
}

SharedFacts facts_on(const AlgorithmInfo& algorithm, const Placement& placement, Count of_each) {
    return find_collective(algorithm.collective)
        ->facts({.size = placement.size(),
                 .count = of_each * placement.size(),
                 .element_bytes = 8,
                 .op = {true},
                 .placement = &placement});
}

void compare_on(const AlgorithmInfo& algorithm, const Placement& placement, Count of_each) {
    const auto settings = with_segment(algorithm.standard_settings(), 4096);
    const SharedFacts facts = facts_on(algorithm, placement, of_each);
    if (algorithm.refusal(facts, settings)) return;
    auto one = Timing::of_one_node({algorithm, facts, settings});
    if (!one) return;
    auto all = Timing::of({algorithm, facts, settings});
    if (!all) {
        ADD_FAILURE() << algorithm.name << " has no time";
        return;
    }
    // Where many messages of many ranks are ready at the same moment, their order is that of the ranks. It is another
    // one on one node.
    const double tolerance = algorithm.collective == "alltoall" ? 0.15 : 1e-12;
    for (const CostModel& costs : cost_models) {
        const double expected = all->time(costs, facts.element_bytes);
        EXPECT_NEAR(one->time(costs, facts.element_bytes), expected, tolerance * expected)
            << algorithm.collective << "/" << algorithm.name << " on " << placement.nodes() << " nodes, "
            << placement.size() << " ranks, " << of_each;
    }
}

TEST(OneNode, takes_the_time_of_all) {
    const Placement placements[] = {Placement::regular(8, 1),  Placement::regular(12, 1), Placement::regular(27, 1),
                                    Placement::regular(37, 1), Placement::regular(2, 2),  Placement::regular(4, 4),
                                    Placement::regular(5, 4),  Placement::regular(7, 3),  Placement::regular(16, 8)};
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* algorithm : collective.algorithms) {
            for (const Placement& placement : placements) {
                for (const Count of_each : {1, 40, 3000}) {
                    if (!collective.has.local_lengths) compare_on(*algorithm, placement, of_each);
                }
            }
        }
    }
}

bool is_found(const char* collective, const char* name, const Placement& placement, Count of_each = 40) {
    const AlgorithmInfo& algorithm = *find_collective(collective)->algorithm(name);
    const auto settings = with_segment(algorithm.standard_settings(), 4096);
    return Timing::of_one_node({algorithm, facts_on(algorithm, placement, of_each), settings}).has_value();
}

TEST(OneNode, is_found_where_a_schedule_is_the_same_from_each) {
    for (const char* collective : {"allreduce", "allgather", "reduce_scatter"}) {
        EXPECT_TRUE(is_found(collective, "ring", Placement::regular(37, 1))) << collective;
        EXPECT_TRUE(is_found(collective, "ring", Placement::regular(7, 3))) << collective;
    }
    EXPECT_TRUE(is_found("barrier", "dissemination", Placement::regular(37, 1)));
    EXPECT_TRUE(is_found("allreduce", "halving_doubling", Placement::regular(16, 8)));
    EXPECT_TRUE(is_found("allgather", "recursive_doubling", Placement::regular(32, 1)));
    EXPECT_TRUE(is_found("alltoall", "pairwise", Placement::regular(12, 4)));
}

TEST(OneNode, is_not_found_where_ranks_differ) {
    EXPECT_FALSE(is_found("allreduce", "halving_doubling", Placement::regular(12, 1)));
    EXPECT_FALSE(is_found("bcast", "binomial", Placement::regular(16, 1)));
    EXPECT_FALSE(is_found("scan", "linear_pipeline", Placement::regular(16, 4)));
    const Rank uneven[] = {0, 0, 1, 1, 2};
    EXPECT_FALSE(is_found("allreduce", "ring", Placement::of(uneven)));
    // One part is longer than the others.
    const AlgorithmInfo& ring = *find_collective("allreduce")->algorithm("ring");
    const auto settings = ring.standard_settings();
    const SharedFacts facts{.size = 16, .count = 16 * 40 + 1, .element_bytes = 8, .op = {true}};
    EXPECT_FALSE(Timing::of_one_node({ring, facts, settings}).has_value());
}

Rank first_of_chain = 0;

/// A message that goes round once. All ranks but one do the same.
Schedule chain(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block arrived = call.scratch();
    const Rank left = (r + p - 1) % p, right = (r + 1) % p;
    if (r == first_of_chain) co_yield exchange(send(call.input(), right));
    co_yield exchange(receive(arrived, left));
    if (r != first_of_chain) co_yield exchange(send(arrived, right));
}

TEST(OneNode, that_waits_for_itself_does_not_stand_for_all) {
    const AlgorithmInfo info{.collective = "allreduce", .name = "chain", .schedule = chain};
    int stuck = 0;
    for (first_of_chain = 0; first_of_chain < 37; ++first_of_chain) {
        auto one = Timing::of_one_node({info, {.size = 37, .count = 3, .op = {true}}, {}});
        if (!one) continue;
        EXPECT_EQ(one->time_if_it_ends(cost_models[0], 8), std::nullopt);
        ++stuck;
    }
    EXPECT_GT(stuck, 0) << "not every rank is looked at";
}

/// From which rank 5 is left out.
Schedule ring_without_one(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block arrived = call.scratch();
    if (r == 5) co_return;
    const Rank right = (r + 1) % p == 5 ? 6 : (r + 1) % p, left = r == 6 ? 4 : (r + p - 1) % p;
    co_yield exchange(send(call.input(), right), receive(arrived, left));
}

TEST(OneNode, looks_at_others_than_the_first) {
    const AlgorithmInfo info{.collective = "allreduce", .name = "ring_without_one", .schedule = ring_without_one};
    EXPECT_FALSE(Timing::of_one_node({info, {.size = 10, .count = 3, .op = {true}}, {}}).has_value());
}

}  // namespace
}  // namespace rondo::virtual_machine
