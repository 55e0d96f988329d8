// SPDX-License-Identifier: BSD-3-Clause
// What algorithms that use nodes send between nodes, and in how many rounds, as their files say it.
#include <algorithm>
#include <bit>
#include <functional>

#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/placement.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::MessageEvent;
using virtual_machine::Trace;

struct Nodes {
    Rank nodes, ranks;
    [[nodiscard]] Placement placement() const { return Placement::regular(nodes, ranks); }
    [[nodiscard]] Rank size() const { return nodes * ranks; }
};

constexpr Nodes shapes[] = {{2, 2}, {4, 4}, {3, 5}, {8, 3}, {5, 1}, {1, 4}, {16, 2}};

/// A call on nodes. The vector can be cut evenly into parts of parts; into pieces, if there are segments.
struct OnNodes {
    std::string_view collective, name;
    Nodes shape;
    Rank root = 0;
    bool commutative = true;

    [[nodiscard]] Count count() const { return Count{8} * shape.size() * shape.size(); }

    [[nodiscard]] Trace trace() const {
        const Collective* of = find_collective(collective);
        const AlgorithmInfo* algorithm = of->algorithm(name);
        std::vector<Setting> settings = algorithm->standard_settings();
        for (Setting& setting : settings) {
            if (setting.name == "segment") setting.value = Count{shape.nodes} * element_bytes;
        }
        const Placement placement = shape.placement();
        return virtual_machine::trace({*algorithm,
                                       of->facts({.size = shape.size(),
                                                  .count = count(),
                                                  .element_bytes = element_bytes,
                                                  .root = root,
                                                  .op = {commutative},
                                                  .placement = &placement}),
                                       settings});
    }
};

/// Elements that each rank sends to and gets from other nodes.
struct Traffic {
    std::vector<Count> out, in;
    bool stays_in_lanes = true;

    explicit Traffic(const OnNodes& call)
        : out(static_cast<std::size_t>(call.shape.size())), in(static_cast<std::size_t>(call.shape.size())) {
        const Placement placement = call.shape.placement();
        for (const MessageEvent& message : call.trace().messages) {
            const auto from = placement.place(message.from), to = placement.place(message.to);
            if (from.node == to.node) continue;
            stays_in_lanes = stays_in_lanes && from.number == to.number;
            out[static_cast<std::size_t>(message.from)] += message.source.count;
            in[static_cast<std::size_t>(message.to)] += message.source.count;
        }
    }
};

class Figures : public testing::TestWithParam<Nodes> {
  protected:
    [[nodiscard]] static double all_but_a_part() { return 1 - 1.0 / GetParam().nodes; }

    /// Every lane carries an even part of what a node sends (or gets).
    static void expect_in_lanes(const OnNodes& call, bool sent, const std::function<double(Rank)>& vectors) {
        SCOPED_TRACE(testing::Message() << call.collective << " from or to " << call.root);
        const Traffic traffic(call);
        EXPECT_TRUE(traffic.stays_in_lanes);
        for (Rank rank = 0; rank < call.shape.size(); ++rank) {
            const double per_lane = vectors(rank / call.shape.ranks) * double(call.count()) / call.shape.ranks;
            EXPECT_DOUBLE_EQ(double((sent ? traffic.out : traffic.in)[static_cast<std::size_t>(rank)]), per_lane)
                << rank;
        }
    }

    /// All but the part of its own node leaves the root's node (or comes there), once; over all lanes alike if they are
    /// all used.
    static void expect_root_node(const OnNodes& call, bool sent) {
        SCOPED_TRACE(testing::Message() << call.collective << "/" << call.name << " from or to " << call.root);
        const Traffic traffic(call);
        const Rank root_node = call.root / call.shape.ranks;
        const Count of_others = call.count() / call.shape.nodes * (call.shape.nodes - 1);
        Count all = 0;
        for (Rank number = 0; number < call.shape.ranks; ++number) {
            const Rank rank = root_node * call.shape.ranks + number;
            const Count volume = (sent ? traffic.out : traffic.in)[static_cast<std::size_t>(rank)];
            if (call.name == "full_lane") EXPECT_EQ(volume, of_others / call.shape.ranks) << rank;
            all += volume;
        }
        EXPECT_EQ(all, of_others);
        EXPECT_TRUE(call.name != "full_lane" || traffic.stays_in_lanes);
    }

    /// One rank of each node carries all of it: `number(node)`.
    static void expect_by_leaders(const OnNodes& call, bool sent, const std::function<Rank(Rank)>& number,
                                  const std::function<double(Rank)>& vectors) {
        SCOPED_TRACE(testing::Message() << call.collective << " from or to " << call.root);
        const Traffic traffic(call);
        for (Rank rank = 0; rank < call.shape.size(); ++rank) {
            const Rank node = rank / call.shape.ranks;
            const bool leads = rank % call.shape.ranks == number(node);
            EXPECT_DOUBLE_EQ(double((sent ? traffic.out : traffic.in)[static_cast<std::size_t>(rank)]),
                             leads ? vectors(node) * double(call.count()) : 0)
                << rank;
        }
    }
};

constexpr bool sent = true, received = false;

TEST_P(Figures, full_lane_brings_every_element_once_to_or_from_each_node) {
    const Nodes shape = GetParam();
    for (const Rank root : {0, shape.size() / 2, shape.size() - 1}) {
        const auto once = [&](Rank node) { return node == root / shape.ranks ? 0.0 : 1.0; };
        expect_in_lanes({"bcast", "full_lane", shape, root}, received, once);
        expect_in_lanes({"reduce", "full_lane", shape, root}, sent, once);
        expect_root_node({"scatter", "full_lane", shape, root}, sent);
        expect_root_node({"gather", "full_lane", shape, root}, received);
        expect_root_node({"scatter", "k_lane", shape, root}, sent);
        expect_root_node({"gather", "k_lane", shape, root}, received);
        expect_in_lanes({"reduce", "full_lane", shape, root, false}, sent, once);
    }
}

TEST_P(Figures, full_lane_sends_the_least_that_is_possible) {
    const Nodes shape = GetParam();
    const auto part = [&](Rank) { return all_but_a_part(); };
    const auto to_the_next = [&](Rank node) { return node + 1 < shape.nodes ? 1.0 : 0.0; };
    for (const bool commutative : {true, false}) {
        expect_in_lanes({"allreduce", "full_lane", shape, 0, commutative}, sent,
                        [&](Rank) { return 2 * all_but_a_part(); });
        expect_in_lanes({"reduce_scatter", "full_lane", shape, 0, commutative}, sent, part);
        expect_in_lanes({"scan", "full_lane", shape, 0, commutative}, sent, to_the_next);
        expect_in_lanes({"exscan", "full_lane", shape, 0, commutative}, sent, to_the_next);
    }
    expect_in_lanes({"allgather", "full_lane", shape}, sent, part);
}

TEST_P(Figures, leaders_alone_speak_to_other_nodes) {
    const Nodes shape = GetParam();
    const auto first = [](Rank) { return Rank{0}; };
    for (const Rank root : {0, shape.size() / 2, shape.size() - 1}) {
        const Rank root_node = root / shape.ranks, root_number = root % shape.ranks;
        const auto once = [&](Rank node) { return node == root_node ? 0.0 : 1.0; };
        const auto root_leads = [&](Rank node) { return node == root_node ? root_number : 0; };
        expect_by_leaders({"bcast", "leaders", shape, root}, received, root_leads, once);
        expect_by_leaders({"bcast", "k_lane", shape, root}, received, root_leads, once);
        expect_by_leaders({"reduce", "leaders", shape, root}, sent, root_leads, once);
    }
    const auto part = [&](Rank) { return all_but_a_part(); };
    expect_by_leaders({"allgather", "leaders", shape}, sent, first, part);
    expect_by_leaders({"reduce_scatter", "leaders", shape}, sent, first, part);
    if (std::has_single_bit(static_cast<std::uint32_t>(shape.nodes))) {
        expect_by_leaders({"allreduce", "leaders", shape}, sent, first,
                          [&](Rank) { return double(ceil_log2(shape.nodes)); });
    }
}

TEST_P(Figures, leaders_take_a_logarithm_of_rounds_within_and_between_nodes) {
    const Nodes shape = GetParam();
    const int between = ceil_log2(shape.nodes), within = ceil_log2(shape.ranks);
    const auto rounds = [&](std::string_view collective, Rank root, bool commutative) {
        return OnNodes{collective, "leaders", shape, root, commutative}.trace().outcome.time;
    };
    for (const Rank root : {0, shape.size() / 2, shape.size() - 1}) {
        EXPECT_EQ(rounds("bcast", root, true), between + within);
        EXPECT_EQ(rounds("reduce", root, true), between + within);
        EXPECT_LE(rounds("reduce", root, false), between + within + 2);
    }
    EXPECT_EQ(rounds("reduce", 0, false), between + within);
    const bool power_of_two = std::has_single_bit(static_cast<std::uint32_t>(shape.nodes));
    EXPECT_LE(rounds("allreduce", 0, false), between + 2 * within + (power_of_two ? 0 : 1));
    EXPECT_LE(rounds("scan", 0, false), between + 2 * within);
    EXPECT_LE(rounds("exscan", 0, false), between + 2 * within);
}

/// Messages between four leaders that go at once take one latency; by doubling, one waits for the other.
TEST(allreduce_leaders, take_one_latency_between_four_nodes_by_recursive_multiplying) {
    const AlgorithmInfo& algorithm = *find_collective("allreduce")->algorithm("leaders");
    const Placement placement = Placement::regular(4, 4);
    const SharedFacts facts{
        .size = 16, .count = 1, .element_bytes = element_bytes, .op = {true}, .placement = &placement};
    constexpr double within = 1.0 / 64;
    const auto time = [&](Count lane, Count radix) {
        const std::vector<Setting> settings = {{"lane", lane}, {"radix", radix}};
        const virtual_machine::CostModel costs{.alpha = 1, .inside = virtual_machine::LinkCosts{.alpha = within}};
        return virtual_machine::run_dataflow({algorithm, facts, settings}, {.costs = costs}).time;
    };
    EXPECT_DOUBLE_EQ(time(0, 4), 2 + 4 * within);  // two rounds to the leader, and two back
    EXPECT_DOUBLE_EQ(time(1, 4), 1 + 4 * within);
    EXPECT_DOUBLE_EQ(time(1, 2), time(0, 4));
}

/// What a message costs for its length decides: halves of vectors, in place of whole ones, between eight leaders.
TEST(leaders, send_parts_of_medium_vectors_where_their_lane_says_so) {
    struct Lanes {
        std::string_view collective;
        Count whole, in_parts;  // numbers of alternatives
    };
    constexpr int nodes = 8;
    const Placement placement = Placement::regular(nodes, 2);
    for (const Lanes& lanes : {Lanes{"bcast", 0, 1}, Lanes{"reduce", 0, 1}, Lanes{"allreduce", 0, 2}}) {
        SCOPED_TRACE(lanes.collective);
        const AlgorithmInfo& algorithm = *find_collective(lanes.collective)->algorithm("leaders");
        const SharedFacts facts{
            .size = 2 * nodes, .count = 8000, .element_bytes = element_bytes, .op = {true}, .placement = &placement};
        const auto vectors_through_a_link = [&](Count lane) {
            std::vector<Setting> settings = algorithm.standard_settings();
            std::ranges::find(settings, "lane", &Setting::name)->value = lane;
            const virtual_machine::CostModel costs{
                .alpha = 0, .beta = 1.0 / double(facts.bytes()), .inside = virtual_machine::LinkCosts{.alpha = 0}};
            return virtual_machine::run_dataflow({algorithm, facts, settings}, {.costs = costs}).time;
        };
        EXPECT_DOUBLE_EQ(vectors_through_a_link(lanes.whole), ceil_log2(nodes));
        EXPECT_NEAR(vectors_through_a_link(lanes.in_parts), 2.0 * (nodes - 1) / nodes, 0.01);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Figures, testing::ValuesIn(shapes), [](const auto& shape) {
    return std::to_string(shape.param.nodes) + "x" + std::to_string(shape.param.ranks);
});

}  // namespace
}  // namespace rondo::conformance
