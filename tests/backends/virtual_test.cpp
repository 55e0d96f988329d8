// SPDX-License-Identifier: BSD-3-Clause
// The checkers find what they are for: every kind of fault is planted once, and named with rank, step and block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Generator = Schedule (*)(const Call&);

constexpr SharedFacts three_ranks{.size = 3, .count = 10, .element_bytes = 8};

template <class Run>
std::string fault_of(Generator generator, Run&& run, SharedFacts facts = three_ranks, int ports = 1) {
    const AlgorithmInfo faulty{.collective = "exscan", .name = "faulty", .schedule = generator};
    const Problem problem{faulty, facts, {}, false, ports};
    try {
        run(problem);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

std::string lock_step_fault(Generator generator, SharedFacts facts = three_ranks) {
    return fault_of(generator, [](const Problem& problem) { run_lock_step(problem); }, facts);
}

std::string dataflow_fault(Generator generator, SharedFacts facts = three_ranks) {
    return fault_of(generator, [](const Problem& problem) { run_dataflow(problem); }, facts);
}

/// A right exclusive scan on three ranks, but for what is done to the pieces it is made of.
Schedule right(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block next = call.scratch();
    if (r == 0) co_yield exchange(send(call.input(), 1));
    if (r == 1) {
        co_yield exchange(receive(call.output(), 0));
        co_yield combine(call.output(), call.input()).into(next);
        co_yield exchange(send(next, 2));
    }
    if (r == 2) co_yield exchange(receive(call.output(), 1));
}

Schedule swaps_operands(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block next = call.scratch();
    if (r == 0) co_yield exchange(send(call.input(), 1));
    if (r == 1) {
        co_yield exchange(receive(call.output(), 0));
        co_yield combine(call.input(), call.output()).into(next);
        co_yield exchange(send(next, 2));
    }
    if (r == 2) co_yield exchange(receive(call.output(), 1));
}

TEST(virtual_machine, accepts_a_right_algorithm) {
    EXPECT_EQ(lock_step_fault(right), "none");
    EXPECT_EQ(dataflow_fault(right), "none");
}

TEST(virtual_machine, finds_operands_in_the_wrong_order) {
    const auto message = AllOf(HasSubstr("rank 2: output[0, 10) should hold V0..V1"), HasSubstr("V1 V0"));
    EXPECT_THAT(lock_step_fault(swaps_operands), message);
    EXPECT_THAT(dataflow_fault(swaps_operands), message);
}

TEST(virtual_machine, lets_operands_swap_when_the_operator_commutes) {
    SharedFacts commutative = three_ranks;
    commutative.op.commutative = true;
    EXPECT_EQ(lock_step_fault(swaps_operands, commutative), "none");
}

Schedule misses_a_contribution(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(send(call.input(), r + 1), receive(call.output(), r - 1));
}

TEST(virtual_machine, finds_a_missing_contribution) {
    EXPECT_THAT(lock_step_fault(misses_a_contribution), HasSubstr("should hold V0..V1, holds V1"));
    EXPECT_THAT(dataflow_fault(misses_a_contribution), HasSubstr("should hold V0..V1, holds V1"));
}

Schedule counts_twice(const Call& call) {
    co_yield copy(call.input()).into(call.output());
    co_yield combine(call.input(), call.output()).into(call.output());
}

TEST(virtual_machine, finds_an_input_that_counts_twice) {
    EXPECT_THAT(lock_step_fault(counts_twice), AllOf(HasSubstr("rank 0, step 1"), HasSubstr("counts an input twice")));
}

Schedule writes_where_nothing_is_promised(const Call& call) {
    if (call.ranks().first == 0) co_yield copy(call.input()).into(call.output());
    Schedule steps = right(call);
    co_yield steps_of(steps);
}

TEST(virtual_machine, finds_that_the_output_of_rank_0_is_touched_in_an_exclusive_scan) {
    EXPECT_THAT(lock_step_fault(writes_where_nothing_is_promised),
                HasSubstr("rank 0: output[0, 10) should hold nothing, holds V0"));
}

Schedule deadlocks(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(receive(call.output(), (r + 1) % p));
    co_yield exchange(send(call.input(), (r + p - 1) % p));
}

TEST(virtual_machine, finds_a_deadlock) {
    EXPECT_THAT(lock_step_fault(deadlocks),
                AllOf(HasSubstr("rank 0, step 0"), HasSubstr("receive output[0, 10) from 1"), HasSubstr("deadlock")));
    // As dataflow the sends need not wait for the receives, and the fault is another one.
    EXPECT_THAT(dataflow_fault(deadlocks), HasSubstr("rank 0: output[0, 10) should hold nothing"));
}

Schedule forgets_the_receive(const Call& call) {
    const auto [r, p] = call.ranks();
    if (r > 0) co_yield exchange(receive(call.output(), r - 1));
}

TEST(virtual_machine, finds_an_unmatched_message) {
    EXPECT_THAT(lock_step_fault(forgets_the_receive), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("deadlock")));
    EXPECT_THAT(dataflow_fault(forgets_the_receive), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("deadlock")));
}

Schedule sends_once_too_often(const Call& call) {
    Schedule steps = right(call);
    co_yield steps_of(steps);
    if (call.ranks().first == 1) co_yield exchange(send(call.input(), 2));
}

TEST(virtual_machine, finds_a_message_that_nobody_receives) {
    EXPECT_THAT(lock_step_fault(sends_once_too_often), AllOf(HasSubstr("rank 1, step 3"), HasSubstr("deadlock")));
    EXPECT_THAT(dataflow_fault(sends_once_too_often), AllOf(HasSubstr("rank 1, step 3"), HasSubstr("nobody receives")));
}

Schedule leaves_its_buffer(const Call& call) { co_yield copy(call.input()).into(call.output().part(1, 10)); }

TEST(virtual_machine, finds_a_block_outside_its_buffer) {
    EXPECT_THAT(lock_step_fault(leaves_its_buffer), HasSubstr("output[1, 11) is outside its buffer"));
    EXPECT_THAT(dataflow_fault(leaves_its_buffer), HasSubstr("output[1, 11) is outside its buffer"));
}

/// All ranks send before they receive: right only where messages are buffered.
Schedule sends_in_a_circle(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block unused = call.scratch();
    co_yield exchange(send(call.input(), (r + 1) % p));
    co_yield copy(call.input()).into(unused);
    co_yield exchange(receive(unused, (r + p - 1) % p));
}

TEST(virtual_machine, finds_a_circle_of_sends_in_lock_step_but_dataflow_breaks_it) {
    EXPECT_THAT(lock_step_fault(sends_in_a_circle), HasSubstr("deadlock"));
    EXPECT_THAT(dataflow_fault(sends_in_a_circle), HasSubstr("output[0, 10) should hold"));
}

Schedule truncates(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield exchange(send(call.input(), r + 1), receive(call.output().part(0, 9), r - 1));
}

TEST(virtual_machine, finds_a_truncated_message) {
    EXPECT_THAT(lock_step_fault(truncates),
                AllOf(HasSubstr("sends input[0, 10)"), HasSubstr("receives output[0, 9)"), HasSubstr("counts differ")));
    EXPECT_THAT(dataflow_fault(truncates), HasSubstr("counts differ"));
}

Schedule two_ports(const Call& call) {
    if (call.ranks().first == 0) co_yield exchange(send(call.input(), 1), send(call.input(), 2));
    else co_yield exchange(receive(call.output(), 0));
}

TEST(virtual_machine, finds_a_second_port_in_use) {
    EXPECT_THAT(lock_step_fault(two_ports), AllOf(HasSubstr("rank 0, step 0"), HasSubstr("uses 2 ports, has 1")));
    const auto with_two_ports = [](const Problem& problem) { run_lock_step(problem); };
    EXPECT_THAT(fault_of(two_ports, with_two_ports, three_ranks, 2), HasSubstr("should hold V0..V1, holds V0"));
}

/// A right all-to-all, but for the order of two parts on one rank.
Schedule swaps_parts(const Call& call) {
    const auto [r, p] = call.ranks();
    co_yield copy(call.outgoing(r)).into(call.incoming(r));
    for (Rank distance = 1; distance < p; ++distance) {
        const Rank to = (r + distance) % p, from = (r + p - distance) % p;
        const Block part = r == 1 ? call.outgoing(to == 0 ? 2 : 0) : call.outgoing(to);
        co_yield exchange(send(part, to), receive(call.incoming(from), from));
    }
}

TEST(virtual_machine, finds_a_part_that_was_for_another_rank) {
    const AlgorithmInfo faulty{.collective = "alltoall", .name = "faulty", .schedule = swaps_parts};
    const Problem problem{faulty, find_collective("alltoall")->facts({.size = 3, .count = 6}), {}};
    const auto wrong =
        AllOf(HasSubstr("rank 0: output[2, 4) should hold V1"), HasSubstr("holds V1 (of the element 4 further on)"));
    const auto fault = [](auto&& run) -> std::string {
        try {
            run();
        } catch (const Error& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_THAT(fault([&] { run_lock_step(problem); }), wrong);
    EXPECT_THAT(fault([&] { run_dataflow(problem); }), wrong);
}

Schedule reads_nothing(const Call& call) { co_yield copy(call.scratch()).into(call.output()); }

TEST(virtual_machine, finds_a_read_of_what_was_never_written) {
    EXPECT_THAT(lock_step_fault(reads_nothing), AllOf(HasSubstr("rank 0, step 0"), HasSubstr("reads scratch[0, 10)")));
    EXPECT_THAT(dataflow_fault(reads_nothing), HasSubstr("reads scratch[0, 10)"));
}

Schedule shifts_elements(const Call& call) {
    const auto [r, p] = call.ranks();
    if (r == 0) co_yield exchange(send(call.input().part(1, 5), 1));
    if (r == 1) co_yield exchange(receive(call.output().part(0, 5), 0));
}

TEST(virtual_machine, finds_elements_in_the_wrong_place) {
    EXPECT_THAT(lock_step_fault(shifts_elements), HasSubstr("1 further on"));
}

/// Two segments through the same scratch block: the second must not overwrite the first while it is being sent.
Schedule reuses_a_block(const Call& call) {
    const auto [r, p] = call.ranks();
    const Block slot = call.scratch(5);
    if (r == 2) {
        for (const Count first : {0, 5}) co_yield exchange(receive(call.output().part(first, 5), 1));
    }
    if (r == 1) {
        for (const Count first : {0, 5}) {
            co_yield exchange(receive(call.output().part(first, 5), 0));
            co_yield combine(call.output().part(first, 5), call.input().part(first, 5)).into(slot);
            co_yield exchange(send(slot, 2));
        }
    }
    if (r == 0) {
        for (const Count first : {0, 5}) co_yield exchange(send(call.input().part(first, 5), 1));
    }
}

/// All that the checker says, over some seeds, when rank 1's plan lacks one dependency.
std::string faults_without(std::uint32_t action, std::uint32_t dependent) {
    const AlgorithmInfo info{.collective = "exscan", .name = "reuses_a_block", .schedule = reuses_a_block};
    const Problem problem{info, three_ranks, {}};
    DataflowOptions options;
    options.alter = [&](Rank rank, Plan plan) {
        return rank == 1 ? plan.without_dependency(action, dependent) : std::move(plan);
    };
    std::string faults;
    for (options.seed = 1; options.seed <= 50; ++options.seed) {
        try {
            run_dataflow(problem, options);
        } catch (const Error& error) {
            faults += std::string(error.what()) + "\n";
        }
    }
    return faults;
}

TEST(virtual_machine, finds_a_block_that_is_overwritten_while_it_is_being_sent) {
    // Actions of rank 1: 0 receive, 1 combine, 2 send, 3 receive, 4 combine, 5 send.
    EXPECT_THAT(faults_without(2, 4),
                HasSubstr("rank 1, step 4 (combine output[5, 10), input[5, 10) into scratch[0, 5)): "
                          "overwrites scratch[0, 5) while it is being sent"));
}

TEST(virtual_machine, finds_a_block_that_is_read_before_it_has_arrived) {
    EXPECT_THAT(faults_without(3, 4), AllOf(HasSubstr("rank 1, step 4"), HasSubstr("output[5, 10)")));
}

TEST(virtual_machine, finds_a_block_that_is_sent_before_it_is_combined) {
    EXPECT_THAT(faults_without(4, 5), HasSubstr("rank 2: output[5, 10) should hold V0..V1"));
    EXPECT_EQ(dataflow_fault(reuses_a_block), "none");
}

TEST(virtual_machine, hides_latency_behind_bandwidth_in_dataflow_only) {
    const AlgorithmInfo* pipeline = find_collective("exscan")->algorithm("linear_pipeline");
    constexpr Count blocks = 128, bytes = 4 << 20;
    const std::vector<Setting> settings = {{"segment", bytes / blocks}};
    const SharedFacts facts{.size = 8, .count = bytes / 8, .element_bytes = 8};
    const CostModel costs{.alpha = 2e-3, .beta = 8 / 200e6};  // 2 ms, 200 Mbit/s
    const Problem problem{*pipeline, facts, settings};
    const double limit = costs.beta * bytes + 7 * costs.alpha;
    EXPECT_NEAR(run_lock_step(problem, costs).time, (6 + blocks) * (costs.alpha + costs.beta * bytes / blocks), 1e-9);
    const double overlapped = run_dataflow(problem, {.costs = costs}).time;
    EXPECT_GE(overlapped, limit * 0.999);
    EXPECT_LE(overlapped, limit * 1.06);
}

}  // namespace
}  // namespace rondo::virtual_machine
