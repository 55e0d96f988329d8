// SPDX-License-Identifier: BSD-3-Clause
// Rounds, messages and volume of all-to-alls, counted by execution and held against the papers' formulas; and what
// their plans take.
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/plan.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::Outcome;
using virtual_machine::Problem;

const Rank largest_size = Width{.brief = 20, .everyday = 50, .full = 200}();

constexpr Count per_part = 3;
constexpr Count never = Count{1} << 40;  // do nodes and lanes overlap

SharedFacts facts_of(Rank p, const Placement* placement) {
    return find_collective("alltoall")
        ->facts({.size = p, .count = p * per_part, .element_bytes = element_bytes, .placement = placement});
}

Outcome outcome_of(std::string_view name, Rank p, const std::vector<Setting>& settings = {},
                   const Placement* placement = nullptr) {
    const AlgorithmInfo& algorithm = *find_collective("alltoall")->algorithm(name);
    return virtual_machine::run_lock_step({algorithm, facts_of(p, placement), settings});
}

void expect_on_every_rank(const Outcome& outcome, Count rounds, Count messages, Count parts) {
    EXPECT_EQ(outcome.time, static_cast<double>(rounds));
    for (const auto& rank : outcome.ranks) {
        EXPECT_EQ(rank.sent, messages);
        EXPECT_EQ(rank.received, messages);
        EXPECT_EQ(rank.volume, parts * per_part);
    }
}

TEST(alltoall, sends_every_part_once_in_rounds_of_as_many_messages_as_there_are_ports) {
    for (Rank p = 2; p <= largest_size; ++p) {
        SCOPED_TRACE(p);
        expect_on_every_rank(outcome_of("pairwise", p), p - 1, p - 1, p - 1);
        expect_on_every_rank(outcome_of("linear", p), (p + 62) / 64, p - 1, p - 1);
        for (const Count ports : {1, 2, 3, 7, 32}) {
            const Count rounds = (p - 1 + ports - 1) / ports;
            expect_on_every_rank(outcome_of("k_ported", p, {{"ports", ports}}), rounds, p - 1, p - 1);
        }
    }
}

/// The numbers below `p` that have another digit than 0 at each place, counted for every place.
Count digits_other_than_0(Count p, Count radix) {
    Count digits = 0;
    for (Count number = 1; number < p; ++number) {
        for (Count rest = number; rest > 0; rest /= radix) digits += rest % radix != 0 ? 1 : 0;
    }
    return digits;
}

TEST(alltoall_bruck, takes_a_round_for_every_digit_and_a_message_for_every_value_of_it) {
    for (Rank p = 2; p <= largest_size; ++p) {
        for (const Count radix : {2, 3, 4, 8, 64}) {
            SCOPED_TRACE(testing::Message() << p << " ranks, radix " << radix);
            Count messages = 0;
            for (Count weight = 1; weight < p; weight *= radix) {
                messages += std::min<Count>(radix - 1, (p - 1) / weight);
            }
            const Outcome outcome = outcome_of("bruck", p, {{"radix", radix}});
            expect_on_every_rank(outcome, messages, messages, digits_other_than_0(p, radix));
            if (radix == 2) EXPECT_EQ(outcome.time, ceil_log2(p));
        }
    }
}

TEST(alltoall_full_lane, takes_a_round_for_every_other_node_and_every_other_rank_of_the_node) {
    for (const Rank nodes : {1, 2, 3, 5, 8}) {
        for (const Rank ranks : {1, 2, 4, 7}) {
            SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks);
            const Placement placement = Placement::regular(nodes, ranks);
            const Count rounds = nodes - 1 + ranks - 1, parts = (nodes - 1) * ranks + (ranks - 1) * nodes;
            expect_on_every_rank(outcome_of("full_lane", nodes * ranks, {{"overlap", never}}, &placement), rounds,
                                 rounds, parts);
            // In turn, each node is handed on by itself.
            const Count messages = nodes - 1 + (ranks - 1) * nodes;
            expect_on_every_rank(outcome_of("full_lane", nodes * ranks, {{"overlap", 1}}, &placement), messages,
                                 messages, parts);
        }
    }
}

TEST(alltoall_full_lane, sends_one_message_to_each_node_also_where_nodes_differ) {
    for (const std::vector<Rank>& shape : {std::vector<Rank>{4, 4, 3}, {1, 5}, {3, 7, 2, 4}, {8, 1, 1}, {2, 3, 3, 3}}) {
        const Placement placement = nodes_of(shape);
        const Outcome outcome = outcome_of("full_lane", placement.size(), {{"overlap", never}}, &placement);
        Count volume = 0, expected = 0;
        for (Rank rank = 0; rank < placement.size(); ++rank) {
            const Rank ranks = placement.on_node(placement.place(rank).node).size();
            EXPECT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].sent, placement.nodes() - 1 + ranks - 1);
            volume += outcome.ranks[static_cast<std::size_t>(rank)].volume;
            expected += placement.size() - ranks;  // to other nodes
        }
        for (const Rank ranks : shape)
            expected += Count{ranks - 1} * placement.size();  // all but what came to its rank
        EXPECT_EQ(volume, expected * per_part);
        const Rank least = std::ranges::min(shape), turns = (placement.most_on_node() + least - 1) / least;
        EXPECT_LE(outcome.time, (placement.nodes() - 1) * turns + placement.most_on_node() - 1);
    }
}

/// Four nodes of four ranks and two lanes, where a rank inside its node is half as fast as a lane: each phase takes 1.5
/// times what a rank's vector takes on a lane.
TEST(alltoall_full_lane, lets_nodes_and_lanes_work_at_once) {
    const Placement placement = Placement::regular(4, 4);
    const virtual_machine::CostModel costs{
        .alpha = 0, .beta = 1, .inside = virtual_machine::LinkCosts{.alpha = 0, .beta = 2}, .lanes = 2};
    const Collective& alltoall = *find_collective("alltoall");
    const SharedFacts facts =
        alltoall.facts({.size = 16, .count = 1 << 20, .element_bytes = 1, .placement = &placement});
    const auto time = [&](Count overlap) {
        const std::vector<Setting> settings = {{"overlap", overlap}};
        return virtual_machine::run_dataflow({*alltoall.algorithm("full_lane"), facts, settings}, {.costs = costs})
                   .time /
               static_cast<double>(facts.bytes());
    };
    EXPECT_GE(time(never), 3);
    EXPECT_LE(time(Count{64} << 10), 2);
    EXPECT_GE(time(Count{65} << 10), 3);
}

/// Where every node has as many ranks. Groups differ by one rank at most.
TEST(alltoall_multileader, sends_a_message_of_each_leader_to_each_other_node) {
    for (const Rank nodes : {1, 2, 3, 5, 8}) {
        for (const Rank ranks : {1, 2, 4, 7}) {
            for (const Rank leaders : {1, 2, 3, 7}) {
                SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks << ", leaders " << leaders);
                const Placement placement = Placement::regular(nodes, ranks);
                const Outcome outcome = outcome_of("multileader", nodes * ranks,
                                                   {{"leaders", leaders}, {"lane", 0}, {"radix", 2}}, &placement);
                const Rank lead = std::min(ranks, leaders);
                Rank leading = 0;
                for (const auto& rank : outcome.ranks) {
                    if (rank.sent == nodes - 1 + ranks - 1) ++leading;
                    else EXPECT_EQ(rank.sent, 1);
                }
                if (ranks > 2 || nodes > 2) EXPECT_EQ(leading, lead * nodes);  // else a message says nothing
                const Rank group = (ranks + lead - 1) / lead;
                EXPECT_LE(outcome.time, group - 1 + nodes - 1 + ranks - 1);
            }
        }
    }
}

/// The name of an exchange of leaders in two algorithms: a number of `lane`.
Setting lane_of(const AlgorithmInfo& algorithm, std::string_view name) {
    const auto alternatives = algorithm.parameter("lane")->alternatives;
    return {"lane", std::ranges::find(alternatives, name, &Alternative::name) - alternatives.begin()};
}

/// Between N nodes a leader sends ceil(log2 N) messages, by the digits of their distances, or (r - 1) ceil(log_r N).
TEST(alltoall_multileader, sends_fewer_messages_where_leaders_exchange_by_way_of_each_other) {
    const AlgorithmInfo& algorithm = *find_collective("alltoall")->algorithm("multileader");
    const Setting bruck = lane_of(algorithm, "bruck");
    for (const auto& [nodes, radix, messages] : std::vector<std::tuple<Rank, Count, Count>>{
             {2, 2, 1}, {5, 2, 3}, {8, 2, 3}, {9, 3, 4}, {16, 4, 6}, {16, 2, 4}}) {
        for (const Rank ranks : {3, 4, 7}) {
            for (const Count leaders : {1, 2}) {
                SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks << ", leaders " << leaders);
                const Placement placement = Placement::regular(nodes, ranks);
                const std::vector<Setting> settings = {{"leaders", leaders}, bruck, {"radix", radix}};
                const Outcome outcome = outcome_of("multileader", nodes * ranks, settings, &placement);
                const auto leads = [&](const auto& rank) { return rank.sent == messages + ranks - 1; };
                EXPECT_EQ(std::ranges::count_if(outcome.ranks, leads), leaders * nodes);
            }
        }
    }
}

TEST(alltoall_k_lane, takes_a_step_for_every_rank_of_every_other_node) {
    for (const Rank nodes : {1, 2, 3, 5, 8}) {
        for (const Rank ranks : {1, 2, 4, 7}) {
            SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks);
            const Placement placement = Placement::regular(nodes, ranks);
            const Count rounds = nodes * ranks - 1;
            expect_on_every_rank(outcome_of("k_lane", nodes * ranks, {}, &placement), rounds, rounds, rounds);
        }
    }
}

/// As the paper counts: in each step every lane of every node carries one message, all of a node go to one other node,
/// and no two to the same rank.
TEST(alltoall_k_lane, sends_one_message_on_every_lane_of_a_node_in_every_step) {
    for (const Rank nodes : {2, 3, 5, 8}) {
        for (const Rank ranks : {1, 2, 4, 7}) {
            SCOPED_TRACE(testing::Message() << nodes << " nodes of " << ranks);
            const Placement placement = Placement::regular(nodes, ranks);
            const Problem problem = {
                *find_collective("alltoall")->algorithm("k_lane"), facts_of(nodes * ranks, &placement), {}};
            struct Sent {
                std::set<Rank> lanes, to, to_nodes;
                Rank messages = 0;
            };
            std::map<std::pair<double, Rank>, Sent> of_nodes;  // by step
            for (const virtual_machine::MessageEvent& message : virtual_machine::trace(problem).messages) {
                const auto [node, lane] = placement.place(message.from);
                Sent& sent = of_nodes[{message.start, node}];
                ++sent.messages;
                sent.lanes.insert(lane);
                sent.to.insert(message.to);
                sent.to_nodes.insert(placement.place(message.to).node);
            }
            const std::size_t steps = static_cast<std::size_t>((nodes - 1) * ranks + ranks - 1);
            EXPECT_EQ(of_nodes.size(), steps * static_cast<std::size_t>(nodes));
            for (const auto& [at, sent] : of_nodes) {
                EXPECT_EQ(sent.messages, ranks);
                EXPECT_EQ(sent.lanes.size(), static_cast<std::size_t>(ranks));
                EXPECT_EQ(sent.to.size(), static_cast<std::size_t>(ranks));
                EXPECT_EQ(sent.to_nodes.size(), 1U);
            }
        }
    }
}

TEST(alltoall, has_plans_of_less_than_1_MiB_on_4096_ranks) {
    constexpr Rank p = 4096;
    std::vector<Rank> in_turn(p), uneven(64, 64);
    for (Rank rank = 0; rank < p; ++rank) in_turn[static_cast<std::size_t>(rank)] = rank % 64;
    uneven.front() = 60;
    uneven.back() = 68;
    for (const Placement& placement : {Placement::regular(64, 64), Placement::of(in_turn), nodes_of(uneven)}) {
        for (const AlgorithmInfo* algorithm : find_collective("alltoall")->algorithms) {
            const Placement* known = algorithm->uses_nodes ? &placement : nullptr;
            const SharedFacts facts =
                find_collective("alltoall")->facts({.size = p, .count = p * per_part, .placement = known});
            std::vector<Setting> settings = algorithm->standard_settings();
            const auto actions_of_small_plan = [&] {
                const Call call(facts, {.rank = p / 3}, settings);
                const Plan plan = Plan::of(call, *algorithm);
                EXPECT_LT(plan.bytes(), std::size_t{1} << 20) << algorithm->name;
                // Making it takes some 30 to 60 ns for an action and for each that it waits for: less than 1 ms.
                const auto waits = std::accumulate(plan.waits_for().begin(), plan.waits_for().end(), std::size_t{0});
                EXPECT_LE(plan.actions().size() + waits, std::size_t{5} * p) << algorithm->name;
                return plan.actions().size();
            };
            EXPECT_LE(actions_of_small_plan(), std::size_t{2} * p) << algorithm->name;
            if (algorithm->name != "full_lane") continue;
            settings = {{"overlap", 1}};  // besides, a copy for each node, and for each part that is out of order
            EXPECT_LE(actions_of_small_plan(), std::size_t{3} * p + 64) << algorithm->name;
        }
    }
}

}  // namespace
}  // namespace rondo::conformance
