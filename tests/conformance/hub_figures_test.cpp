// SPDX-License-Identifier: BSD-3-Clause
// What algorithms that go by way of hubs send between nodes, and how long that takes, as their files say it.
#include "rondo/backends/virtual/trace.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::CostModel;
using virtual_machine::LinkCosts;
using virtual_machine::MessageEvent;
using virtual_machine::Trace;

struct Nodes {
    Rank nodes, ranks;
};

constexpr Nodes shapes[] = {{2, 2}, {4, 4}, {3, 5}, {8, 3}, {5, 1}, {1, 4}};

/// A call whose vector is cut into as many segments for every hub.
struct ByHubs {
    std::string_view collective;
    Nodes shape;
    Rank root = 0;
    bool commutative = true;
    Count of_each = 12, leaders = 4;

    static constexpr Count elements = 10;  // of a segment

    [[nodiscard]] Rank hubs() const { return collective == "allreduce" ? shape.nodes : std::max(1, shape.nodes - 1); }
    [[nodiscard]] Count count() const { return of_each * hubs() * elements; }
    [[nodiscard]] Rank root_node() const { return root / shape.ranks; }
    [[nodiscard]] Trace trace(const CostModel& costs) const {
        const Collective& of = *find_collective(collective);
        const std::vector<Setting> settings = {{"segment", elements * element_bytes}, {"leaders", leaders}};
        const Placement placement = Placement::regular(shape.nodes, shape.ranks);
        return virtual_machine::trace({*of.algorithm("hubs"),
                                       of.facts({.size = placement.size(),
                                                 .count = count(),
                                                 .element_bytes = element_bytes,
                                                 .root = root,
                                                 .op = {commutative},
                                                 .placement = &placement}),
                                       settings},
                                      {.execution = virtual_machine::Execution::overlapped, .costs = costs});
    }
};

/// Vectors that go from each rank to other nodes, and come from there.
struct Traffic {
    std::vector<double> out, in;

    explicit Traffic(const ByHubs& call) : ranks_(call.shape.ranks) {
        out.resize(static_cast<std::size_t>(call.shape.nodes) * static_cast<std::size_t>(ranks_));
        in.resize(out.size());
        for (const MessageEvent& message : call.trace({}).messages) {
            if (message.from / ranks_ == message.to / ranks_) continue;
            const double part = double(message.source.count) / double(call.count());
            out[static_cast<std::size_t>(message.from)] += part;
            in[static_cast<std::size_t>(message.to)] += part;
        }
    }
    [[nodiscard]] double of_node(const std::vector<double>& of_ranks, Rank node) const {
        const auto first = of_ranks.begin() + static_cast<std::ptrdiff_t>(node) * ranks_;
        return std::accumulate(first, first + ranks_, 0.0);
    }

  private:
    Rank ranks_;
};

class Hubs : public testing::TestWithParam<Nodes> {
  protected:
    [[nodiscard]] static std::vector<Rank> some_roots() {
        const Rank size = GetParam().nodes * GetParam().ranks;
        return {0, size / 2, size - 1};
    }
    static void expect_of_nodes(const ByHubs& call, const std::vector<double>& of_ranks, double of_root_node,
                                double of_others) {
        const Traffic traffic(call);
        for (Rank node = 0; node < call.shape.nodes; ++node) {
            const double expected = node == call.root_node() ? of_root_node : of_others;
            EXPECT_NEAR(traffic.of_node(of_ranks, node), expected, 1e-9)
                << call.collective << ", root " << call.root << ", node " << node;
        }
    }
};

TEST_P(Hubs, bring_every_segment_once_to_each_node_and_share_what_is_handed_on) {
    const Nodes shape = GetParam();
    if (shape.nodes == 1) return;
    const double handed_on = double(shape.nodes - 2) / (shape.nodes - 1);
    for (const Rank root : some_roots()) {
        const ByHubs bcast{"bcast", shape, root}, reduce{"reduce", shape, root};
        expect_of_nodes(bcast, Traffic(bcast).in, 0, 1);
        expect_of_nodes(bcast, Traffic(bcast).out, 1, handed_on);
        expect_of_nodes(reduce, Traffic(reduce).out, 0, 1);
        expect_of_nodes(reduce, Traffic(reduce).in, 1, handed_on);
    }
}

TEST_P(Hubs, send_the_least_that_an_allreduce_has_to) {
    const Nodes shape = GetParam();
    const double all_but_a_part = 1 - 1.0 / shape.nodes;
    for (const bool commutative : {true, false}) {
        const ByHubs call{"allreduce", shape, 0, commutative};
        expect_of_nodes(call, Traffic(call).out, 2 * all_but_a_part, 2 * all_but_a_part);
        expect_of_nodes(call, Traffic(call).in, 2 * all_but_a_part, 2 * all_but_a_part);
    }
}

/// Where the root's node is between others, its sums belong between theirs.
TEST_P(Hubs, get_the_sums_of_the_root_node_too_if_the_operator_does_not_commute) {
    const Nodes shape = GetParam();
    for (const Rank root : some_roots()) {
        const ByHubs call{"reduce", shape, root, false};
        const bool is_between = call.root_node() > 0 && call.root_node() + 1 < shape.nodes;
        expect_of_nodes(call, Traffic(call).out, is_between ? 1 : 0, 1);
    }
}

TEST_P(Hubs, have_their_leaders_take_turns) {
    const Nodes shape = GetParam();
    if (shape.nodes == 1) return;
    for (const Count leaders : {1, 2, 3, 4, 1000}) {
        const auto used = static_cast<Rank>(std::min<Count>(leaders, shape.ranks));
        if (ByHubs().of_each % used != 0) continue;
        const ByHubs call{"bcast", shape, 0, true, ByHubs().of_each, leaders};
        const Traffic traffic(call);
        for (Rank number = 0; number < shape.ranks; ++number) {
            const double share = number < used ? 1.0 / used : 0;
            EXPECT_NEAR(traffic.out[static_cast<std::size_t>(number)], share, 1e-9) << number << " of " << leaders;
        }
    }
}

TEST_P(Hubs, take_two_latencies_between_nodes) {
    const Nodes shape = GetParam();
    const CostModel costs{.alpha = 1, .inside = LinkCosts{.alpha = 0}};
    constexpr Count few = 1;  // executors keep no more than 16 receives under way: of many segments some come later
    for (const Rank root : some_roots()) {
        const double of_root = std::min(2, shape.nodes - 1);
        EXPECT_EQ((ByHubs{"bcast", shape, root, true, few}.trace(costs).outcome.time), of_root);
        EXPECT_EQ((ByHubs{"reduce", shape, root, true, few}.trace(costs).outcome.time), of_root);
    }
    EXPECT_EQ((ByHubs{"allreduce", shape, 0, true, few}.trace(costs).outcome.time), shape.nodes > 1 ? 2 : 0);
}

/// While a segment crosses the network, nodes hand out others. A single leader is busy with that for half the time of
/// the network, and sends both: the times do not add up.
TEST_P(Hubs, hide_what_happens_inside_nodes) {
    const Nodes shape = GetParam();
    if (shape.nodes == 1 || shape.ranks == 1) return;
    const ByHubs call{"bcast", shape, 0, true, 8, 1}, without{"bcast", {shape.nodes, 1}, 0, true, 8, 1};
    const double vector = 10, beta = vector / double(call.count() * element_bytes);
    const int sends = ceil_log2(shape.ranks);  // of the rank that leads
    const CostModel costs{
        .alpha = 1, .beta = beta, .inside = LinkCosts{.alpha = 0, .beta = beta / sends / 2}, .fluid = true};
    const double alone = without.trace(costs).outcome.time;
    EXPECT_GE(alone, std::min(2, shape.nodes - 1) + vector);
    EXPECT_LE(alone, 2 + vector + (shape.nodes + 2) * vector / double(call.of_each * call.hubs()));
    EXPECT_LE(call.trace(costs).outcome.time, alone + vector / 3);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Hubs, testing::ValuesIn(shapes), [](const auto& shape) {
    return std::to_string(shape.param.nodes) + "x" + std::to_string(shape.param.ranks);
});

}  // namespace
}  // namespace rondo::conformance
