// SPDX-License-Identifier: BSD-3-Clause
// What barriers promise beyond that every rank hears of every other (results_test): without any one of their messages
// they are none. And how many messages and rounds they take.
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

const Collective& barriers() { return *find_collective("barrier"); }

struct Route {
    Rank from, to;
};

/// Of the schedule under test, whose messages from `missing.from` to `missing.to` do not happen.
const AlgorithmInfo* complete = nullptr;
Route missing{};

Schedule incomplete_schedule(const Call& call) {
    const Rank own = call.ranks().first;
    Schedule whole = complete->schedule(call);
    std::vector<Transfer> kept;
    for (const Step& step : whole) {
        if (step.kind == StepKind::copy) co_yield copy(step.left).into(step.into);
        if (step.kind != StepKind::exchange) continue;
        kept.clear();
        for (const Transfer& transfer : step.transfers) {
            Transfer in_communicator = transfer;
            const Rank peer = in_communicator.peer = step.peer(transfer);
            const bool sends = transfer.direction == Direction::send;
            const bool is_missing = (sends ? own : peer) == missing.from && (sends ? peer : own) == missing.to;
            if (!is_missing) kept.push_back(in_communicator);
        }
        co_yield exchange(std::span<const Transfer>(kept));
    }
}

/// All pairs of ranks between which messages go.
std::vector<Route> routes(const virtual_machine::Problem& problem) {
    std::vector<Route> found;
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        const auto call = problem.call(rank);
        Schedule steps = problem.algorithm.schedule(*call);
        for (const Step& step : steps) {
            for (const Transfer& transfer : step.transfers) {
                const bool sends = step.kind == StepKind::exchange && transfer.direction == Direction::send;
                if (sends && step.peer(transfer) != no_rank) found.push_back({rank, step.peer(transfer)});
            }
        }
    }
    return found;
}

class EveryBarrier : public testing::TestWithParam<const AlgorithmInfo*> {};

TEST_P(EveryBarrier, is_none_without_one_of_its_messages) {
    const AlgorithmInfo& algorithm = *GetParam();
    const Placement nodes = Placement::of(std::vector<Rank>{0, 0, 1, 0, 1, 2, 2, 1, 2, 2, 3});
    for (const Placement* placement : {static_cast<const Placement*>(nullptr), &nodes}) {
        for (const Rank size : {Rank{2}, Rank{3}, Rank{7}, Rank{8}, nodes.size()}) {
            if (placement != nullptr && size != nodes.size()) continue;
            for (const auto& settings : settings_for(algorithm, size, size)) {
                const SharedFacts facts = barriers().facts({.size = size, .placement = placement});
                const virtual_machine::Problem problem{algorithm, facts, settings};
                SCOPED_TRACE(describe(problem));
                complete = &algorithm;
                AlgorithmInfo incomplete = algorithm;
                incomplete.schedule = incomplete_schedule;
                missing = {no_rank, no_rank};
                EXPECT_NO_THROW(virtual_machine::run_lock_step({incomplete, facts, settings}));
                for (const Route& route : routes(problem)) {
                    missing = route;
                    EXPECT_THROW(virtual_machine::run_lock_step({incomplete, facts, settings}), Error)
                        << "no message from " << route.from << " to " << route.to << " is missed";
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryBarrier, testing::ValuesIn(barriers().algorithms), test_name);

virtual_machine::Outcome outcome_of(std::string_view name, Rank size, Count radix,
                                    const Placement* placement = nullptr) {
    const std::vector<Setting> settings = {{"radix", radix}};
    return virtual_machine::run_lock_step(
        {*barriers().algorithm(name), barriers().facts({.size = size, .placement = placement}), settings});
}

std::int64_t messages(const virtual_machine::Outcome& outcome) {
    std::int64_t all = 0;
    for (const virtual_machine::RankCounts& rank : outcome.ranks) all += rank.sent;
    return all;
}

TEST(barrier_dissemination, takes_the_logarithm_of_p_in_rounds) {
    for (Rank size = 1; size <= 100; ++size) {
        EXPECT_EQ(outcome_of("dissemination", size, 2).time, ceil_log2(size)) << size;
    }
    // Three messages a round.
    EXPECT_EQ(outcome_of("dissemination", 64, 4).time, 9);
    EXPECT_EQ(outcome_of("dissemination", 64, 64).time, 63);
}

TEST(barrier_tree, sends_two_messages_for_every_rank_but_one) {
    for (Rank size = 1; size <= 100; ++size) {
        for (const Count radix : {2, 3, 4, 64}) {
            EXPECT_EQ(messages(outcome_of("tree", size, radix)), 2 * (size - 1)) << size << " radix " << radix;
        }
        EXPECT_EQ(outcome_of("tree", size, 2).time, 2 * ceil_log2(size)) << size;
    }
}

TEST(barrier_leaders, sends_the_fewest_messages_between_nodes) {
    for (const Rank nodes : {1, 2, 3, 4, 7, 16}) {
        for (const Rank ranks : {1, 2, 5, 8}) {
            const Placement placement = Placement::regular(nodes, ranks);
            const auto outcome = outcome_of("leaders", placement.size(), 2, &placement);
            EXPECT_EQ(outcome.time, ceil_log2(nodes) + 2 * ceil_log2(ranks)) << nodes << " x " << ranks;
            EXPECT_EQ(messages(outcome), nodes * (ceil_log2(nodes) + 2 * (ranks - 1))) << nodes << " x " << ranks;
        }
    }
}

}  // namespace
}  // namespace rondo::conformance
