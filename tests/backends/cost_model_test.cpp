// SPDX-License-Identifier: BSD-3-Clause
// What messages take in virtual time, in closed formulas: inside nodes and between them, over lanes that ranks share,
// and where they wait for their receivers.
#include "rondo/backends/virtual/cost_model.hpp"

#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/backends/virtual/timing.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr LinkCosts memory = {.alpha = 3e-4, .beta = 1e-6, .overhead = 1e-5};
constexpr CostModel costs = {.alpha = 2e-3, .beta = 4e-5, .overhead = 5e-5, .inside = memory};
constexpr Count bytes = 100;

double time_on(Schedule (*generator)(const Call&), const Placement& placement, const CostModel& model,
               Count elements = bytes) {
    const AlgorithmInfo info{.collective = "exscan", .name = "pattern", .schedule = generator};
    const SharedFacts facts{.size = placement.size(), .count = elements, .placement = &placement};
    return time_of(info, facts, {}, model);
}

Schedule first_sends_to_last(const Call& call) {
    const auto [r, p] = call.ranks();
    if (r == 0) co_yield exchange(send(call.input(), p - 1));
    if (r == p - 1) co_yield exchange(receive(call.output(), 0));
}

TEST(cost_model, has_two_classes_of_links) {
    // The processor, the wire, the way. The receive is posted meanwhile.
    const double between = costs.overhead + costs.beta * bytes + costs.alpha;
    const double inside = memory.overhead + memory.beta * bytes + memory.alpha;
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, Placement::regular(2, 1), costs), between);
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, Placement::regular(2, 3), costs), between);
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, Placement::regular(1, 5), costs), inside);
    CostModel one_class = costs;
    one_class.inside = std::nullopt;
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, Placement::regular(1, 5), one_class), between);
}

/// Every rank to the one `by` further on. Receives are posted first.
template <Rank by>
Schedule shifts(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(receive(call.output(), (r + p - by) % p), send(call.input(), (r + by) % p));
}

TEST(cost_model, lets_ranks_of_a_node_share_its_lanes) {
    for (const int lanes : {1, 2, 3, 6}) {
        CostModel model = costs;
        model.lanes = lanes;
        // Six ranks to the six of the next node: in a row on each lane, both ways.
        const int in_a_row = (6 + lanes - 1) / lanes;
        const double all_leave = 2 * costs.overhead + in_a_row * costs.beta * bytes + costs.alpha;
        EXPECT_DOUBLE_EQ(time_on(shifts<6>, Placement::regular(3, 6), model), all_leave) << lanes;
        // Of four ranks, only the last one sends to another node; what it receives is inside its own.
        const double one_leaves = memory.overhead + costs.overhead + costs.beta * bytes + costs.alpha;
        EXPECT_NEAR(time_on(shifts<1>, Placement::regular(3, 4), model), one_leaves, 1e-12) << lanes;
    }
    const double inside = 2 * memory.overhead + memory.beta * bytes + memory.alpha;
    EXPECT_DOUBLE_EQ(time_on(shifts<1>, Placement::regular(1, 6), costs), inside);  // wires of their own
}

/// All others to the ranks of the first node, each to another one.
Schedule storms_first_node(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank half = p / 2;
    if (r < half) co_yield exchange(receive(call.output(), r + half));
    else co_yield exchange(send(call.input(), r - half));
}

TEST(cost_model, lets_what_comes_to_a_node_come_in_in_a_row) {
    const Rank names[] = {0, 0, 0, 0, 1, 2, 3, 4};
    const Placement placement = Placement::of(names);
    for (const int lanes : {1, 2, 4}) {
        CostModel model = costs;
        model.lanes = lanes;
        const int in_a_row = 4 / lanes;
        EXPECT_DOUBLE_EQ(time_on(storms_first_node, placement, model),
                         costs.overhead + costs.alpha + in_a_row * costs.beta * bytes)
            << lanes;
    }
}

/// One message to the neighbour on the same node, and behind it one to the next node, where somebody else sends early.
Schedule late_takes_the_lane_last(const Call& call) {
    const Rank r = call.ranks().first;
    if (r == 0) co_yield exchange(send(call.input(), 1), send(call.input().part(0, 10), 2));
    if (r == 1) co_yield exchange(receive(call.output(), 0), send(call.input(), 3));
    if (r == 2) co_yield exchange(receive(call.output().part(0, 10), 0));
    if (r == 3) co_yield exchange(receive(call.output(), 1));
}

TEST(cost_model, serves_lanes_in_the_order_in_which_messages_are_ready) {
    // Rank 0 is asked first, but needs the processor twice before its short message is there; rank 1's is there before
    // that, because its receive and its send take memory's overhead once, and the network's once.
    CostModel model = costs;
    model.overhead = 4e-5;
    const double first_ready = memory.overhead + model.overhead;  // of both ranks
    const double second_ends = first_ready + model.beta * (bytes + 10);
    EXPECT_NEAR(time_on(late_takes_the_lane_last, Placement::regular(2, 2), model), second_ends + model.alpha, 1e-12);
}

/// As many messages as the input has elements, one after the other.
Schedule streams(const Call& call) {
    const auto [r, p] = call.ranks();
    for (Count element = 0; element < call.count(); ++element) {
        if (r == 0) co_yield exchange(send(call.input().part(element, 1), 1));
        if (r == 1) co_yield exchange(receive(call.output().part(element, 1), 0));
    }
}

TEST(cost_model, makes_long_messages_wait_for_their_receivers) {
    const Placement placement = Placement::regular(2, 1);
    CostModel model = costs;
    model.rendezvous = 5e-3;
    const double at_once = time_on(first_sends_to_last, placement, model);
    model.eager = bytes;
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, placement, model), at_once);
    model.eager = bytes - 1;
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, placement, model), at_once + model.rendezvous);
    EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, Placement::regular(1, 2), model),
                     time_on(first_sends_to_last, Placement::regular(1, 2), costs));  // inside a node
}

TEST(cost_model, lets_as_many_long_messages_wait_as_may_be_under_way) {
    // Two at a time: the next two are asked for when those have arrived.
    const CostModel model{.alpha = 2, .beta = 0.25, .eager = 0, .rendezvous = 6};
    const double each = model.rendezvous + model.alpha + model.beta;
    const Placement placement = Placement::regular(2, 1);
    for (const Count pairs : {1, 2, 10, 50}) {
        EXPECT_DOUBLE_EQ(time_on(streams, placement, model, 2 * pairs), double(pairs) * each + model.beta) << pairs;
    }
    // Messages that leave at once follow one another.
    CostModel at_once = model;
    at_once.eager = 1;
    EXPECT_DOUBLE_EQ(time_on(streams, placement, at_once, 100), at_once.alpha + 100 * at_once.beta);
}

/// The receiver works for a while first.
Schedule receives_late(const Call& call) {
    const Rank r = call.ranks().first;
    if (r == 0) co_yield exchange(send(call.input(), 1));
    if (r == 0) co_return;
    co_yield combine(call.input(), call.input()).into(call.output());
    co_yield exchange(receive(call.output(), 0));
}

TEST(cost_model, lets_the_answer_wait_for_the_receive) {
    CostModel model{.alpha = 2, .beta = 0.01, .gamma = 1, .eager = 0, .rendezvous = 6};
    const Placement placement = Placement::regular(2, 1);
    const auto time = [&] { return time_on(receives_late, placement, model); };
    const double way = model.rendezvous / 2 + model.alpha + model.beta * bytes;
    EXPECT_DOUBLE_EQ(time(), model.gamma * bytes + way);  // posted at gamma m, when the question has long been there
    model.gamma = 0.01;
    EXPECT_DOUBLE_EQ(time(), model.rendezvous / 2 + way);  // posted before the question comes
}

/// On two ranks.
Schedule broadcasts(const Call& call) {
    const Rank r = call.ranks().first;
    if (r == 0) co_yield exchange(send(call.output(), 1));
    else co_yield exchange(receive(call.output(), 0));
}

TEST(cost_model, holds_in_lock_step) {
    const AlgorithmInfo info{.collective = "bcast", .name = "pair", .tolerates_in_place = true, .schedule = broadcasts};
    const auto time = [&](const Placement& placement, const CostModel& model) {
        const SharedFacts facts = find_collective("bcast")->facts({.size = 2, .count = bytes, .placement = &placement});
        return run_lock_step(Problem{info, facts, {}}, model).time;
    };
    CostModel model = costs;
    model.rendezvous = 5e-3;
    const double between = costs.alpha + costs.beta * bytes;
    EXPECT_DOUBLE_EQ(time(Placement::regular(2, 1), model), between);
    EXPECT_DOUBLE_EQ(time(Placement::regular(1, 2), model), memory.alpha + memory.beta * bytes);
    model.eager = bytes - 1;
    EXPECT_DOUBLE_EQ(time(Placement::regular(2, 1), model), between + model.rendezvous);
}

TEST(cost_model, sees_what_a_rendezvous_costs_a_pipeline) {
    // MPICH 4.0.2 on eight emulated nodes, 2 ms, 200 Mbit/s: broadcast of 4 MiB by two trees took 742 ms in segments of
    // 32 KiB and 179 ms in segments of 16 KiB; a message that asks took 8.4 ms longer.
    const CostModel model{.alpha = 2e-3, .beta = 4e-8, .overhead = 1e-5, .eager = 16 << 10, .rendezvous = 8.4e-3};
    const AlgorithmInfo& algorithm = *find_collective("bcast")->algorithm("two_tree");
    const SharedFacts facts{.size = 8, .count = 4 << 20};
    const auto time = [&](Count segment) {
        std::vector<Setting> settings = algorithm.standard_settings();
        for (Setting& setting : settings) {
            if (setting.name == segment_parameter.name) setting.value = segment;
        }
        return time_of(algorithm, facts, settings, model);
    };
    EXPECT_NEAR(time(32 << 10), 0.742, 0.05 * 0.742);
    EXPECT_NEAR(time(16 << 10), 0.179, 0.02 * 0.179);
}

CostModel as_fluid(CostModel model) {
    model.fluid = true;
    return model;
}

/// Rank 0 sends to all others at once, and nobody else sends.
Schedule fans_out(const Call& call) {
    const auto [r, p] = call.ranks();
    for (Rank to = 1; to < p; ++to) {
        if (r == 0) co_yield exchange(send(call.input(), to));
        if (r == to) co_yield exchange(receive(call.output(), 0));
    }
}

/// All others send to rank 0 at once.
Schedule fans_in(const Call& call) {
    const auto [r, p] = call.ranks();
    if (r > 0) co_yield exchange(send(call.input(), 0));
    const Block room = call.scratch(Count{p} * bytes);
    for (Rank from = 1; r == 0 && from < p; ++from) co_yield exchange(receive(room.part(from * bytes, bytes), from));
}

TEST(cost_model, gives_ranks_of_domains_wires_of_their_own) {
    const Placement node = Placement::regular(1, 12), domains = Placement::regular(3, 4).as_domains();
    for (const bool fluid : {false, true}) {
        CostModel between = {.alpha = memory.alpha,
                             .beta = memory.beta,
                             .overhead = memory.overhead,
                             .inside = memory,
                             .own_wires = true,
                             .fluid = fluid};
        for (const Collective& collective : collectives()) {
            if (collective.has.local_lengths) continue;
            for (const AlgorithmInfo* algorithm : collective.algorithms) {
                SharedFacts facts = collective.facts({.size = 12, .count = 1200, .op = {true}, .placement = &node});
                const std::vector<Setting> settings = algorithm->standard_settings();
                if (algorithm->uses_nodes || algorithm->refusal(facts, settings)) continue;
                const double on_node = time_of(*algorithm, facts, settings, between);
                facts.placement = &domains;
                EXPECT_DOUBLE_EQ(time_of(*algorithm, facts, settings, between), on_node)
                    << collective.name << "/" << algorithm->name;
            }
        }
        between.beta *= 2;
        const double across = memory.overhead + between.beta * bytes + memory.alpha;
        EXPECT_DOUBLE_EQ(time_on(first_sends_to_last, domains, between), across);
    }
}

TEST(cost_model, shares_lanes_as_fluids_do) {
    const double each = costs.beta * bytes;
    CostModel model = costs;
    model.overhead = 0;
    for (const Rank ranks : {2, 3, 5}) {
        // The last is there when it would be one at a time, and where all are served alike, so are the others.
        const Placement placement = Placement::regular(ranks, 1);
        const double all = model.alpha + (ranks - 1) * each;
        EXPECT_NEAR(time_on(fans_in, placement, as_fluid(model)), all, 1e-12) << ranks;
        EXPECT_NEAR(time_on(fans_out, placement, as_fluid(model)), all, 1e-12) << ranks;
    }
    model.lanes = 2;
    EXPECT_NEAR(time_on(fans_in, Placement::regular(5, 1), as_fluid(model)), model.alpha + 2 * each, 1e-12);
    // Messages inside a node have wires of their own, as ever.
    EXPECT_DOUBLE_EQ(time_on(shifts<1>, Placement::regular(1, 5), as_fluid(costs)),
                     time_on(shifts<1>, Placement::regular(1, 5), costs));
}

/// Rank 1 needs what rank 0 has, and hears from rank 2 meanwhile, which waits for it.
Schedule disturbs(const Call& call) {
    const Rank r = call.ranks().first;
    const Block other = call.scratch();
    if (r == 0) co_yield exchange(send(call.input(), 1));
    if (r == 1) {
        co_yield exchange(receive(call.output(), 0));
        co_yield exchange(receive(other, 2), send(call.output(), 2));
    }
    if (r == 2) co_yield exchange(send(call.input(), 1), receive(call.output(), 1));
}

TEST(cost_model, sees_what_one_message_takes_from_another) {
    CostModel model = costs;
    model.overhead = 0;
    const double each = model.beta * bytes;
    const Placement placement = Placement::regular(3, 1);
    EXPECT_NEAR(time_on(disturbs, placement, as_fluid(model)), 2 * model.alpha + 3 * each, 1e-12);
    // One at a time, the right one first.
    EXPECT_NEAR(time_on(disturbs, placement, model), 2 * model.alpha + 2 * each, 1e-12);
}

/// The same, and rank 1 works for long on what it gets.
Schedule fans_out_and_works(const Call& call) {
    const auto [r, p] = call.ranks();
    for (Rank to = 1; to < p; ++to) {
        if (r == 0) co_yield exchange(send(call.input(), to));
        if (r == to) co_yield exchange(receive(call.output(), 0));
    }
    if (r == 1) co_yield combine(call.output(), call.input()).into(call.output());
}

TEST(cost_model, buffers_short_sends_of_fluids) {
    // Two sends may be under way, and one that is buffered is not: then the third one shares the wire from the start.
    CostModel model = as_fluid(costs);
    model.overhead = 0;
    model.gamma = 1;
    const double each = model.beta * bytes, work = model.gamma * bytes;
    const Placement placement = Placement::regular(4, 1);
    const auto first_arrives = [&] { return time_on(fans_out_and_works, placement, model) - work; };
    EXPECT_NEAR(first_arrives(), model.alpha + 2 * each, 1e-12);
    model.eager = bytes;
    EXPECT_NEAR(first_arrives(), model.alpha + 3 * each, 1e-12);
    model.eager = bytes - 1;  // they ask, and are under way until they are received
    EXPECT_NEAR(first_arrives(), model.alpha + 2 * each, 1e-12);
}

TEST(cost_model, sees_as_fluids_what_was_measured) {
    // MPICH 5.0.2, medians. Before, the model said 42 and 14 ms.
    const auto time = [](const char* collective, const char* name, Rank size, Count length, CostModel model) {
        model.eager = 512 << 10;
        const AlgorithmInfo& algorithm = *find_collective(collective)->algorithm(name);
        const SharedFacts facts{.size = size, .count = length / 8, .element_bytes = 8, .op = {true}};
        return time_of(algorithm, facts, algorithm.standard_settings(), as_fluid(model));
    };
    const CostModel three{.alpha = 5e-3, .beta = 8e-8, .overhead = 6e-5},
        eight{.alpha = 2e-3, .beta = 4e-8, .overhead = 1.6e-4};
    EXPECT_NEAR(time("allreduce", "recursive_doubling", 3, 128 << 10, three), 0.0525, 0.02 * 0.0525);
    EXPECT_NEAR(time("exscan", "two_op_doubling", 8, 64 << 10, eight), 0.0226, 0.06 * 0.0226);
    EXPECT_NEAR(time("exscan", "cyclic_doubling", 8, 64 << 10, eight), 0.0150, 0.06 * 0.0150);
}

TEST(cost_model, tells_full_lanes_from_flat_algorithms) {
    // 4 MiB on four nodes of four ranks, at 2 ms and 100 Mbit/s: a node has to send and receive 2 m (N - 1) / N, and
    // the circulant graphs of the lanes take 2 log2 N rounds.
    const Placement placement = Placement::regular(4, 4);
    const CostModel model{.alpha = 2e-3, .beta = 8e-8, .inside = LinkCosts{.alpha = 5e-7, .beta = 1e-10}};
    const SharedFacts facts{.size = 16, .count = 1 << 19, .element_bytes = 8, .op = {true}, .placement = &placement};
    const Collective& allreduce = *find_collective("allreduce");
    const auto time = [&](const char* name) {
        const AlgorithmInfo& algorithm = *allreduce.algorithm(name);
        return time_of(algorithm, facts, algorithm.standard_settings(), model);
    };
    const double transfer = 2 * model.beta * (4 << 20) * 3 / 4;
    EXPECT_GE(time("full_lane"), transfer + model.alpha);
    EXPECT_LE(time("full_lane"), transfer + 4 * model.alpha + 0.01);
    EXPECT_GT(time("circulant"), 2 * time("full_lane"));
}

}  // namespace
}  // namespace rondo::virtual_machine
