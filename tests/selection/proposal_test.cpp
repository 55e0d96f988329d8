// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/proposal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/prediction.hpp"
#include "rondo/selection/closing.hpp"
#include "rondo/selection/estimate.hpp"
#include "rondo/selection/load.hpp"

namespace rondo {
namespace {

using virtual_machine::CostModel;
using virtual_machine::Predictor;
using virtual_machine::Problem;

constexpr EstimateLimits limits = {.ranks = 128, .on_node = 8, .messages = 1 << 13, .segments = 32};

Machine network() { return Machine::parse("alpha = 2e-6\nbeta = 8e-11\neager = 16Ki\n", "network"); }

CostModel costs() {
    CostModel fluid = network().costs();
    fluid.fluid = true;
    return fluid;
}

/// A call of doubles on regular nodes.
class CallOn {
  public:
    CallOn(std::string_view name, Rank nodes, Rank on_node, Count bytes, bool commutative = true)
        : collective(require_collective(name)), placement(Placement::regular(nodes, on_node)),
          facts(collective.facts({.size = placement.size(),
                                  .count = bytes / 8,
                                  .element_bytes = 8,
                                  .op = {commutative},
                                  .placement = &placement})) {}
    CallOn(const CallOn&) = delete;  // the facts hold on to the placement
    CallOn& operator=(const CallOn&) = delete;
    ~CallOn() = default;

    [[nodiscard]] std::optional<Proposal> proposal(const Machine& machine = network()) const {
        return proposed(collective, facts, machine);
    }
    /// As a choice; empty if nothing is proposed.
    [[nodiscard]] std::string proposal_text(const Machine& machine = network()) const {
        const auto found = proposal(machine);
        return found ? to_string(found->choice) : "";
    }
    /// As `rondo predict` says.
    [[nodiscard]] double whole(const Choice& choice) const {
        const auto settings = settings_for(choice, facts, network());
        auto predictor = Predictor::of(Problem{*choice.algorithm, facts, settings});
        return predictor ? predictor->predict(costs()).seconds : 0;
    }
    [[nodiscard]] double estimate(std::string_view text) const {
        const Choice choice = parse_choice(collective, text);
        return estimated_seconds(*choice.algorithm, facts, settings_for(choice, facts, network()), costs(), limits)
            .value_or(0);
    }
    [[nodiscard]] double bound(std::string_view text) const {
        const Choice choice = parse_choice(collective, text);
        return least_seconds(*choice.algorithm, facts, settings_for(choice, facts, network()), costs());
    }

    const Collective& collective;
    const Placement placement;
    const SharedFacts facts;
};

std::vector<std::string_view> with_known_lengths() {
    std::vector<std::string_view> names;
    for (const Collective& each : collectives()) {
        if (!each.has.local_lengths) names.push_back(each.name);
    }
    return names;
}

TEST(Proposal, is_about_the_fastest_of_all) {
    for (const std::string_view name : with_known_lengths()) {
        for (const auto& [nodes, on_node] : {std::pair<Rank, Rank>{7, 1}, {4, 4}}) {
            for (const Count bytes : {Count{8}, Count{32} << 10, Count{1} << 20}) {
                const CallOn call(name, nodes, on_node, bytes);
                const auto found = call.proposal();
                ASSERT_TRUE(found) << name;
                double least = call.whole(found->choice);
                const double own = least;
                for (const AlgorithmInfo* algorithm : call.collective.algorithms) {
                    const Choice other{algorithm, algorithm->open_settings()};
                    if (!algorithm->refusal(call.facts, other.settings)) least = std::min(least, call.whole(other));
                }
                EXPECT_LE(own, 1.3 * least) << name << " " << bytes << " " << to_string(found->choice);
            }
        }
    }
}

/// Nodes and ranks on each; with RONDO_SOAK many more.
std::vector<std::pair<Rank, Rank>> shapes() {
    std::vector<std::pair<Rank, Rank>> found{{2, 1}, {2, 128}, {3, 20}, {37, 3}, {1024, 1}};
    if (std::getenv("RONDO_SOAK") == nullptr) return found;
    for (const Rank nodes : {2, 4, 5, 16, 64, 100, 256, 1024}) {
        for (const Rank on_node : {1, 2, 7, 16, 64, 96, 128}) found.emplace_back(nodes, on_node);
    }
    return found;
}

TEST(Proposal, is_there_for_jobs_of_every_shape) {
    for (const std::string_view name : with_known_lengths()) {
        for (const auto& [nodes, on_node] : shapes()) {
            for (const Count bytes : {Count{8}, Count{1} << 20}) {
                EXPECT_TRUE(CallOn(name, nodes, on_node, bytes).proposal()) << name << " " << nodes << "x" << on_node;
            }
        }
    }
}

TEST(Proposal, is_there_for_large_jobs) {
    EXPECT_TRUE(CallOn("allreduce", 1024, 128, 1 << 20).proposal());
    EXPECT_TRUE(CallOn("bcast", 1024, 64, 8).proposal());
}

TEST(Proposal, sends_no_long_messages_where_they_would_wait) {
    // MPICH 4 asks the receivers of messages of 16 KiB and more.
    const CallOn call("exscan", 8, 1, 32 << 10);
    Machine slow = Machine::parse("alpha = 2e-3\nbeta = 8e-8\neager = 16Ki\n", "slow");
    EXPECT_EQ(call.proposal_text(slow).substr(0, 9), "two_tree:");
    slow.eager = 512 << 10;
    EXPECT_EQ(call.proposal_text(slow), "cyclic_doubling");
}

TEST(Proposal, names_hubs_for_no_longer_vectors_than_were_measured) {
    const auto algorithms = [](std::string_view collective, Rank nodes, Count bytes) {
        const Machine slow = Machine::parse("alpha = 2e-3\nbeta = 8e-8\noverhead = 4e-5\neager = 512Ki\n", "slow");
        return CallOn(collective, nodes, 4, bytes).proposal_text(slow);
    };
    EXPECT_EQ(algorithms("bcast", 4, 1536 << 10).substr(0, 4), "hubs");
    EXPECT_NE(algorithms("bcast", 4, 3 << 20).substr(0, 4), "hubs");
    EXPECT_NE(algorithms("bcast", 2, 1536 << 10).substr(0, 4), "hubs");
    EXPECT_NE(algorithms("allreduce", 4, 1536 << 10).substr(0, 4), "hubs");
}

/// Where a latency counts about as much as the bytes, two latencies are the fewest, and the vector crosses once.
TEST(Proposal, sends_medium_vectors_by_way_of_hubs) {
    const Machine slow = Machine::parse("alpha = 2e-3\nbeta = 8e-8\noverhead = 4e-5\neager = 512Ki\n", "slow");
    for (const Count bytes : {64 << 10, 128 << 10}) {
        const double limit = 2 * slow.alpha + slow.beta * double(bytes);
        for (const auto& [nodes, on_node] : {std::pair<Rank, Rank>(4, 4), std::pair<Rank, Rank>(4, 16)}) {
            for (const std::string_view name : {"bcast", "reduce"}) {
                const CallOn call(name, nodes, on_node, bytes);
                const auto found = call.proposal(slow);
                ASSERT_TRUE(found);
                EXPECT_EQ(found->choice.algorithm->name, "hubs") << name << ", " << nodes << "x" << on_node;
                EXPECT_LE(found->seconds, 1.3 * limit) << name << ", " << nodes << "x" << on_node;
            }
        }
    }
}

TEST(Proposal, keeps_messages_inside_domains_where_others_cost_more) {
    const std::string base = "alpha = 2e-6\nbeta = 8e-11\nalpha_inside = 1e-7\n";
    const Machine machine = Machine::parse(base + "alpha_across = 2e-6\nbeta_across = 1e-9\n", "machine");
    const Placement domains = Placement::regular(2, 8).as_domains();
    for (const std::string_view name : {"allreduce", "bcast", "reduce"}) {
        const Collective& collective = require_collective(name);
        for (const Count bytes : {Count{8}, Count{1} << 20}) {
            const SharedFacts facts = collective.facts(
                {.size = 16, .count = bytes / 8, .element_bytes = 8, .op = {true}, .placement = &domains});
            const auto found = proposed(collective, facts, machine);
            ASSERT_TRUE(found);
            EXPECT_TRUE(found->choice.algorithm->uses_nodes) << name << " " << to_string(found->choice);
        }
    }
}

TEST(Proposal, serves_operators_that_do_not_commute) {
    for (const std::string_view name : {"allreduce", "reduce", "reduce_scatter", "scan", "exscan"}) {
        const CallOn call(name, 8, 2, 1 << 20, false);
        const auto found = call.proposal();
        ASSERT_TRUE(found);
        EXPECT_EQ(found->choice.algorithm->refusal(call.facts, found->choice.settings), std::nullopt);
    }
}

TEST(Proposal, is_the_same_whoever_asks) {
    const CallOn call("allreduce", 16, 64, 1 << 20);
    EXPECT_NE(call.proposal_text(), "");
    EXPECT_EQ(call.proposal_text(), call.proposal_text());
}

TEST(Proposal, is_for_a_class_of_lengths) {
    const CallOn first("bcast", 4, 1, 1 << 16), last("bcast", 4, 1, (1 << 17) - 8);
    EXPECT_EQ(lengths_like(first.facts.bytes()).lowest, 1 << 16);
    EXPECT_EQ(lengths_like(last.facts.bytes()).highest, (1 << 17) - 1);
    EXPECT_EQ(typical_call(first.collective, first.facts).count, typical_call(last.collective, last.facts).count);
    EXPECT_EQ(lengths_like(0).lowest, 0);
    EXPECT_EQ(lengths_like(63).lowest, 0);
    EXPECT_EQ(lengths_like(64).lowest, 64);
    EXPECT_EQ(typical_call(first.collective, CallOn("bcast", 4, 1, 8).facts).bytes(), 8);
    EXPECT_EQ(typical_call(require_collective("alltoall"), CallOn("alltoall", 5, 1, 80).facts).count % 5, 0);
}

TEST(Proposal, is_made_for_fewer_elements_than_ranks) {
    for (const Placement& placement : {Placement::regular(4, 4), Placement::regular(8, 2), Placement::regular(5, 3)}) {
        for (const std::string_view name : with_known_lengths()) {
            const Collective& collective = require_collective(name);
            for (const Count element : {1, 4, 24}) {
                const SharedFacts facts = typical_call(collective, collective.facts({.size = placement.size(),
                                                                                     .count = 1,
                                                                                     .element_bytes = element,
                                                                                     .op = {true},
                                                                                     .placement = &placement}));
                EXPECT_TRUE(proposed(collective, facts, network()).has_value()) << name << " of " << element;
            }
        }
    }
}

TEST(Estimate, of_few_ranks_is_the_time_itself) {
    for (const char* choice : {"binomial", "bine_butterfly", "k_ported:ports=3"}) {
        const CallOn call("bcast", 8, 4, 1 << 14);
        EXPECT_DOUBLE_EQ(call.estimate(choice), call.whole(parse_choice(call.collective, choice))) << choice;
    }
}

TEST(Estimate, of_many_ranks_is_near) {
    const auto expect_near = [](std::string_view name, const char* choice, Rank nodes, Rank on_node, Count bytes) {
        const CallOn call(name, nodes, on_node, bytes);
        const double whole = call.whole(parse_choice(call.collective, choice));
        EXPECT_NEAR(call.estimate(choice) / whole, 1, 0.25) << name << "/" << choice << " " << nodes << "x" << on_node;
    };
    expect_near("bcast", "binomial", 1000, 1, 8);
    expect_near("bcast", "linear_pipeline", 300, 1, 1 << 20);
    expect_near("bcast", "two_tree", 500, 1, 1 << 24);
    expect_near("allreduce", "recursive_doubling", 512, 1, 1 << 10);
    expect_near("allreduce", "ring", 300, 1, 1 << 24);
    expect_near("allreduce", "full_lane", 32, 16, 1 << 24);
    expect_near("alltoall", "full_lane", 16, 64, 1 << 20);
    expect_near("gather", "binomial", 700, 1, 1 << 20);
}

TEST(Load, counts_what_the_busiest_does) {
    // The root takes 1023 messages, each of which costs it 0.5 us.
    EXPECT_NEAR(CallOn("gather", 1024, 1, 8 << 10).bound("linear"), 1023 * 5e-7, 1e-6);
    // All 16 ranks of a node send the whole vector out.
    EXPECT_GE(CallOn("allreduce", 2, 16, 1 << 20).bound("recursive_doubling"), 16 * (1 << 20) * 8e-11);
    EXPECT_LT(CallOn("allreduce", 2, 16, 1 << 20).bound("full_lane"), 4 * (1 << 20) * 8e-11);
}

TEST(Load, of_a_long_pipeline_grows_with_it) {
    const double shorter = CallOn("bcast", 8, 1, 1 << 20).bound("linear_pipeline:segment=16Ki"),
                 longer = CallOn("bcast", 8, 1, 1 << 24).bound("linear_pipeline:segment=16Ki");
    EXPECT_NEAR(longer / shorter, 16, 0.1);
}

}  // namespace
}  // namespace rondo
