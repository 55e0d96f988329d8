// SPDX-License-Identifier: BSD-3-Clause
// What messages take where they share the links of a network, in closed formulas.
#include "rondo/backends/virtual/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/backends/virtual/prediction.hpp"
#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/error.hpp"
#include "tests/backends/network_calls.hpp"

namespace rondo::virtual_machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Each of the first `senders` sends to the rank `by` further on.
template <Rank senders, Rank by>
Schedule some_send(const Call& call) {
    const Rank r = call.ranks().first;
    if (r < senders) co_yield exchange(send(call.input(), r + by));
    if (r >= by && r < by + senders) co_yield exchange(receive(call.output(), r - by));
}

/// The times of one, two and three messages that share a wire.
constexpr double alone = alpha + beta * bytes, of_two = alpha + 2 * beta * bytes, of_three = alpha + 3 * beta * bytes;

std::vector<std::uint64_t> route(const NetworkShape& shape, Rank from, Rank to) {
    std::vector<NetworkLink> links;
    shape.route(from, to, links);
    std::vector<std::uint64_t> numbers;
    numbers.reserve(links.size());
    for (const NetworkLink& link : links) numbers.push_back(link.number);
    return numbers;
}

TEST(FatTree, halves_the_bandwidth_of_two_pairs_that_cross) {
    const Network tapered = network_of({FatTree{2, 2}}, 4), full = network_of({FatTree{2, 1}}, 4);
    EXPECT_DOUBLE_EQ(time_on(full, some_send<2, 2>), alone);
    EXPECT_DOUBLE_EQ(time_on(tapered, some_send<1, 2>), alone);  // the link carries one node
    EXPECT_DOUBLE_EQ(time_on(tapered, some_send<2, 2>), of_two);
    EXPECT_DOUBLE_EQ(time_on(tapered, some_send<1, 1>), alone);
    EXPECT_DOUBLE_EQ(time_on(tapered, shifts<2>), of_two);  // up and down do not meet
    EXPECT_DOUBLE_EQ(time_on(tapered, shifts<1>), alone);   // one crosses each way
}

TEST(FatTree, may_carry_less_than_one_node_sends) {
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 4}}, 4), some_send<1, 2>), of_two);
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 6}}, 4), some_send<1, 2>), of_three);
}

TEST(FatTree, knows_the_lanes_of_nodes) {
    CostModel costs = plain;
    costs.lanes = 2;
    // Two ranks of each of two nodes: on two lanes each, and two of four cross at a time.
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 1}}, 4), some_send<4, 4>, costs, 2), alone);
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 2}}, 4), some_send<4, 4>, costs, 2), of_two);
}

/// From below one switch to both nodes below another one.
Schedule first_sends_two(const Call& call) {
    const Rank r = call.ranks().first;
    if (r == 0) co_yield exchange(send(call.input(), 2), send(call.input(), 3));
    if (r == 2 || r == 3) co_yield exchange(receive(call.output(), 0));
}

TEST(FatTree, leaves_out_links_that_carry_all_who_use_them) {
    // Two messages, but of one node: its own wire limits, not the link.
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 2}}, 4), first_sends_two), of_two);
}

TEST(Dragonfly, has_one_link_for_each_pair_of_groups) {
    const Network dragonfly = network_of({Dragonfly{2, 1}}, 6);
    EXPECT_DOUBLE_EQ(time_on(dragonfly, some_send<2, 2>), of_two);
    EXPECT_DOUBLE_EQ(time_on(dragonfly, shifts<2>), of_two);
    EXPECT_DOUBLE_EQ(time_on(dragonfly, some_send<2, 3>), alone);  // to two groups
    EXPECT_DOUBLE_EQ(time_on(network_of({Dragonfly{2, 2}}, 6), shifts<2>), alone);
    EXPECT_EQ(route({Dragonfly{2, 1}}, 0, 1).size(), 0U);
    EXPECT_EQ(route({Dragonfly{2, 1}}, 0, 2), route({Dragonfly{2, 1}}, 1, 3));
    EXPECT_NE(route({Dragonfly{2, 1}}, 0, 2), route({Dragonfly{2, 1}}, 2, 0));
}

TEST(Torus, has_room_for_neighbours) {
    const Network ring = network_of({Torus{{8}}}, 8);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<1>), alone);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<7>), alone);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<2>), of_two);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<3>), of_three);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<5>), of_three);
    EXPECT_DOUBLE_EQ(time_on(ring, shifts<4>), of_two);  // half of them each way round
    EXPECT_DOUBLE_EQ(time_on(network_of({Torus{{8}, 2}}, 8), shifts<2>), alone);
    EXPECT_DOUBLE_EQ(time_on(network_of({Torus{{4, 4}}}, 16), shifts<4>), alone);  // to neighbours above
}

TEST(Torus, goes_along_one_dimension_after_the_other) {
    const NetworkShape shape{Torus{{4, 4}}};
    const auto once = [&](Rank from, Rank to) {
        const auto links = route(shape, from, to);
        return links.size() == 1 ? links.front() : ~std::uint64_t{0};
    };
    EXPECT_THAT(route(shape, 0, 5), ElementsAre(once(0, 1), once(1, 5)));
    EXPECT_THAT(route(shape, 0, 15), ElementsAre(once(0, 3), once(3, 15)));  // down, round the end
    EXPECT_THAT(route(shape, 0, 2), ElementsAre(once(0, 1), once(1, 2)));    // as far both ways: up from 0,
    EXPECT_THAT(route(shape, 1, 3), ElementsAre(once(1, 0), once(0, 3)));    // down from 1
    EXPECT_EQ(route(shape, 6, 6).size(), 0U);
    EXPECT_EQ(shape.group(), 4);
    EXPECT_EQ(shape.places(), 16);
}

TEST(NetworkShape, adds_to_the_latency_for_each_link) {
    constexpr double hop = 0.25;
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 1}, 0, hop}, 4), some_send<1, 2>), alone + 2 * hop);
    EXPECT_DOUBLE_EQ(time_on(network_of({FatTree{2, 1}, 0, hop}, 4), some_send<1, 1>), alone);
    EXPECT_DOUBLE_EQ(time_on(network_of({Dragonfly{2, 2}, 0, hop}, 4), some_send<1, 2>), alone + hop);
    EXPECT_DOUBLE_EQ(time_on(network_of({Torus{{8}}, 0, hop}, 8), some_send<1, 3>), alone + 3 * hop);
    CostModel asking = plain;
    asking.eager = 0;
    asking.rendezvous = 7;  // question, answer and message each make the way
    EXPECT_DOUBLE_EQ(time_on(network_of({Torus{{8}}, 0, hop}, 8), some_send<1, 3>, asking), 7 + alone + 9 * hop);
}

/// Calls `body(algorithm, facts, settings)` for each that can be.
template <class Body>
void for_all_algorithms(const Placement& placement, Count of_each, Body&& body) {
    for (const Collective& collective : collectives()) {
        if (collective.has.local_lengths) continue;
        for (const AlgorithmInfo* algorithm : collective.algorithms) {
            const SharedFacts facts = collective.facts({.size = placement.size(),
                                                        .count = of_each * placement.size(),
                                                        .element_bytes = 8,
                                                        .op = {true},
                                                        .placement = &placement});
            const auto settings = with_segment(algorithm->standard_settings(), 4096);
            if (!algorithm->refusal(facts, settings)) body(*algorithm, facts, settings);
        }
    }
}

constexpr CostModel cluster = {.alpha = 2e-6,
                               .beta = 8e-11,
                               .gamma = 4e-11,
                               .overhead = 5e-7,
                               .inside = LinkCosts{.alpha = 5e-7, .beta = 1e-11, .overhead = 1e-7},
                               .eager = 4096,
                               .rendezvous = 4e-6,
                               .fluid = true};

TEST(Network, without_a_taper_takes_the_times_without_a_shape_to_the_last_bit) {
    const Network full_tree = network_of({FatTree{4, 1}}, 12), full_dragonfly = network_of({Dragonfly{3, 3}}, 12);
    for (const Rank per_node : {1, 3}) {
        const Placement placement = Placement::regular(12, per_node);
        for (const Count of_each : {1, 400}) {
            for_all_algorithms(placement, of_each, [&](const auto& algorithm, const auto& facts, const auto& settings) {
                CostModel costs = cluster;
                const double expected = time_of(algorithm, facts, settings, costs);
                for (const Network* network : {&full_tree, &full_dragonfly}) {
                    EXPECT_TRUE(network->is_flat());
                    costs.network = network;
                    EXPECT_EQ(time_of(algorithm, facts, settings, costs), expected) << algorithm.name;
                }
            });
        }
    }
}

TEST(Network, takes_the_same_time_with_data) {
    const Network networks[] = {network_of({FatTree{4, 3}, 0, 1e-7}, 12), network_of({Dragonfly{3, 0.5}}, 12),
                                network_of({Torus{{2, 3, 2}}, 0, 1e-7}, 12)};
    const Placement placement = Placement::regular(12, 2);
    for_all_algorithms(placement, 50, [&](const auto& algorithm, const auto& facts, const auto& settings) {
        for (const Network& network : networks) {
            DataflowOptions options;
            options.costs = cluster;
            options.costs.network = &network;
            EXPECT_EQ(run_dataflow({algorithm, facts, settings}, options).time,
                      time_of(algorithm, facts, settings, options.costs))
                << algorithm.name;
        }
    });
}

/// By pairwise exchanges, each node to each other one.
double time_of_alltoall(const Network& network) {
    const AlgorithmInfo& pairwise = *find_collective("alltoall")->algorithm("pairwise");
    const SharedFacts facts =
        find_collective("alltoall")
            ->facts({.size = network.nodes(), .count = Count{1000} * network.nodes(), .element_bytes = 1});
    CostModel costs = plain;
    costs.network = &network;
    return time_of(pairwise, facts, pairwise.standard_settings(), costs);
}

TEST(Network, is_as_slow_as_its_busiest_link) {
    // Up from each of four switches: what four nodes send to twelve others, on a link that carries one.
    const double tapered = 4 * 12 * 1000 * beta;
    const double found = time_of_alltoall(network_of({FatTree{4, 4}}, 16));
    EXPECT_GE(found, tapered);
    EXPECT_LE(found, 1.25 * tapered);
    // A ring of 16: each node sends up to 7 others in each direction, and to the one opposite.
    const double round = (28 + 4) * 1000 * beta;
    const double on_ring = time_of_alltoall(network_of({Torus{{16}}}, 16));
    EXPECT_GE(on_ring, round);
    EXPECT_LE(on_ring, 1.25 * round);
}

TEST(Network, is_the_same_from_every_group) {
    // What two of four groups send to the other two does not depend on which they are.
    std::vector<double> times;
    for (const std::vector<Rank>& places :
         {std::vector<Rank>{0, 1, 2, 3}, {6, 7, 4, 5}, {2, 3, 6, 7}, {40, 41, 2, 3}}) {
        times.push_back(time_on(Network({FatTree{2, 2}}, places), shifts<2>));
    }
    EXPECT_THAT(times, testing::Each(of_two));
    EXPECT_DOUBLE_EQ(time_on(Network({FatTree{2, 2}}, {0, 2, 1, 3}), shifts<2>), alone);  // pairs below one switch
}

Prediction predicted(const AlgorithmInfo& algorithm, const SharedFacts& facts, const Network& network, Count whole) {
    const auto settings = algorithm.standard_settings();
    PredictionLimits limits;
    limits.whole = whole;
    limits.alike = network.is_flat();
    auto predictor = Predictor::of({algorithm, facts, settings}, limits);
    if (!predictor) throw Error("the schedule is too long");
    CostModel costs = cluster;
    if (!network.is_flat()) costs.network = &network;
    return predictor->predict(costs);
}

TEST(Network, lets_one_node_stand_for_all_only_where_it_is_flat) {
    const AlgorithmInfo& ring = *find_collective("allgather")->algorithm("ring");
    const SharedFacts facts =
        find_collective("allgather")->facts({.size = 16, .count = Count{16} * 400, .element_bytes = 8});
    const Network flat = network_of({FatTree{16, 2}}, 16), tapered = network_of({FatTree{4, 128}}, 16);
    EXPECT_TRUE(flat.is_flat());  // all of them are below one switch
    EXPECT_FALSE(tapered.is_flat());
    EXPECT_FALSE(network_of({FatTree{4, 1}, 0, 1e-7}, 16).is_flat());
    EXPECT_FALSE(network_of({Torus{{16}}}, 16).is_flat());
    EXPECT_EQ(predicted(ring, facts, flat, 1).means, Means::one_node);
    EXPECT_NEAR(predicted(ring, facts, flat, 1).seconds, predicted(ring, facts, flat, 1 << 20).seconds, 1e-12);
    const Prediction found = predicted(ring, facts, tapered, 1);
    EXPECT_EQ(found.means, Means::whole);
    CostModel costs = cluster;
    costs.network = &tapered;
    EXPECT_EQ(found.seconds, time_of(ring, facts, ring.standard_settings(), costs));
    EXPECT_GT(found.seconds, 1.5 * predicted(ring, facts, flat, 1).seconds);
}

template <class Body>
std::string complaint(Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(Network, refuses_what_cannot_be) {
    EXPECT_THAT(complaint([] { Network({FatTree{4, 2}}, {0, 3, 3}); }), HasSubstr("two nodes at place 3"));
    EXPECT_THAT(complaint([] { Network({FatTree{4, 2}, 2}, {0, 8}); }), HasSubstr("at place 8"));
    EXPECT_THAT(complaint([] { Network({Torus{{4, 2}}}, {8}); }), HasSubstr("expected 0 to 7"));
    EXPECT_THAT(complaint([] { Network({Torus{{4, 2}}}, {-1}); }), HasSubstr("at place -1"));
    CostModel one_at_a_time = plain;
    one_at_a_time.fluid = false;
    const Network network = network_of({Torus{{8}}}, 8);
    EXPECT_THAT(complaint([&] { time_on(network, shifts<1>, one_at_a_time); }), HasSubstr("as fluids"));
    // One node that stands for eight is not these eight.
    const AlgorithmInfo& ring = *find_collective("allgather")->algorithm("ring");
    const SharedFacts facts = find_collective("allgather")->facts({.size = 8, .count = 800, .element_bytes = 8});
    auto one = Timing::of_one_node({ring, facts, ring.standard_settings()});
    ASSERT_TRUE(one.has_value());
    CostModel costs = plain;
    costs.network = &network;
    EXPECT_THAT(complaint([&] { one->time(costs, 8); }), HasSubstr("a network with 8 nodes; expected 1"));
}

}  // namespace
}  // namespace rondo::virtual_machine
