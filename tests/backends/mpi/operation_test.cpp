// SPDX-License-Identifier: BSD-3-Clause
// Plans carried out over messages of a library, and what becomes of them when messages fail.
#include "rondo/backends/mpi/operation.hpp"

#include <array>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "tests/backends/mpi/made_up_library.hpp"
#include "tests/backends/mpi/memory.hpp"

namespace rondo::mpi {
namespace {

void play(int ranks, const std::function<void()>& role) {
    made_up::play(ranks, [&] {
        learn_datatypes();
        learn_operators();
        made_up::return_errors(MPI_COMM_WORLD);
        role();
    });
}

/// All ranks of the world, in their order.
class WorldRoute {
  public:
    explicit WorldRoute(int tag = 0) : ranks_(static_cast<std::size_t>(made_up::size())) {
        std::iota(ranks_.begin(), ranks_.end(), 0);
        route_ = {MPI_COMM_WORLD, ranks_, made_up::rank(), tag, nullptr, false};
    }
    [[nodiscard]] const Route& operator*() const { return route_; }

  private:
    std::vector<Rank> ranks_;
    Route route_{};
};

Plan plan_of_call(const char* collective, const char* algorithm, Count count, Count element_bytes, Rank root = 0,
                  std::vector<Setting> settings = {}) {
    const Collective& known = *find_collective(collective);
    const SharedFacts facts = known.facts(
        {.size = made_up::size(), .count = count, .element_bytes = element_bytes, .root = root, .op = {true}});
    const AlgorithmInfo& info = *known.algorithm(algorithm);
    if (settings.empty()) settings = info.standard_settings();
    return Plan::of(Call(facts, {.rank = made_up::rank()}, settings), info);
}

TEST(Operations, carry_out_reductions_of_every_shape) {
    for (const char* const algorithm : {"recursive_doubling", "ring", "two_tree", "halving_doubling", "circulant"}) {
        SCOPED_TRACE(algorithm);
        play(5, [&] {
            constexpr Count count = 1000;
            std::vector<int> input(count, made_up::rank() + 1), output(count, -1);
            input[7] = made_up::rank();
            Datatype derived;
            const Datatype& type = *describe(MPI_INT, derived);
            const Reduction sum(MPI_SUM, type);
            Operation operation;
            const Plan plan = plan_of_call("allreduce", algorithm, count, type.size);
            EXPECT_EQ(operation.run(plan, {input.data(), output.data(), type, &sum}, *WorldRoute()), MPI_SUCCESS);
            EXPECT_EQ(output[0], 15);
            EXPECT_EQ(output[7], 10);
            EXPECT_EQ(output[count - 1], 15);
        });
    }
}

TEST(Operations, make_progress_without_waiting) {
    play(3, [] {
        std::array<int, 4> input{1, 2, 3, 4}, output{};
        Datatype derived;
        const Datatype& type = *describe(MPI_INT, derived);
        const Reduction sum(MPI_SUM, type);
        const WorldRoute route;
        const Operands operands{input.data(), output.data(), type, &sum};
        const Plan plan = plan_of_call("allreduce", "ring", 4, 4);
        Operation operation;
        operation.start(plan, operands, *route);
        while (!operation.progress()) EXPECT_EQ(operation.error(), MPI_SUCCESS);
        EXPECT_EQ(operation.error(), MPI_SUCCESS);
        EXPECT_EQ(output, (std::array<int, 4>{3, 6, 9, 12}));
        EXPECT_EQ(made_up::calls("Wait") + made_up::calls("Recv"), 0);
    });
}

TEST(Operations, elements_with_gaps_are_copied_by_the_library) {
    play(2, [] {
        const auto add = [](const void* in, void* inout, int count) {
            const auto* left = static_cast<const int*>(in);
            for (auto* right = static_cast<int*>(inout); count-- > 0; left += 3, right += 3) {
                right[0] += left[0];
                right[2] += left[2];
            }
        };
        Datatype derived;
        const Datatype& type = *describe(made_up::vector(2, 1, 2, MPI_INT), derived);
        const Reduction sum(made_up::make_operator(add, true), type);
        std::array<int, 6> input{1, -5, 2, 3, -5, 4}, output{0, 77, 0, 0, 88, 0};
        Operation operation;
        const Plan plan = plan_of_call("allreduce", "recursive_doubling", 2, type.size);
        EXPECT_EQ(operation.run(plan, {input.data(), output.data(), type, &sum}, *WorldRoute()), MPI_SUCCESS);
        EXPECT_EQ(output, (std::array<int, 6>{2, 77, 4, 6, 88, 8})) << "gaps are the user's";
    });
}

TEST(Operations, calls_with_other_tags_do_not_meet) {
    play(2, [] {
        Datatype derived;
        const Datatype& type = *describe(MPI_INT, derived);
        const Plan plan = plan_of_call("bcast", "binomial", 1, 4);
        int first = 5, second = 6;
        Operation one, other;
        const WorldRoute route(3), other_route(4);
        if (made_up::rank() == 0) {
            one.run(plan, {nullptr, &first, type, nullptr}, *route);
            other.run(plan, {nullptr, &second, type, nullptr}, *other_route);
        } else {
            first = second = 0;
            EXPECT_EQ(other.run(plan, {nullptr, &second, type, nullptr}, *other_route), MPI_SUCCESS);
            EXPECT_EQ(one.run(plan, {nullptr, &first, type, nullptr}, *route), MPI_SUCCESS);
        }
        EXPECT_EQ(first, 5);
        EXPECT_EQ(second, 6);
    });
}

TEST(Operations, return_the_error_of_a_message_and_end_what_is_under_way) {
    // One message, or several.
    for (const char* const algorithm : {"binomial", "linear_pipeline"}) {
        SCOPED_TRACE(algorithm);
        play(3, [&] {
            std::vector<int> buffer(64, made_up::rank());
            Datatype derived;
            const Datatype& type = *describe(MPI_INT, derived);
            // The last rank has room for less than what comes.
            const Count count = made_up::rank() == 2 ? 32 : 64;
            std::vector<Setting> settings;
            if (algorithm == std::string("linear_pipeline")) settings = {{"segment", 4 * (count / 2)}};
            const Plan plan = plan_of_call("bcast", algorithm, count, 4, 0, settings);
            Operation operation;
            const int error = operation.run(plan, {nullptr, buffer.data(), type, nullptr}, *WorldRoute());
            EXPECT_EQ(error, made_up::rank() == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            EXPECT_EQ(operation.error(), error);
            EXPECT_EQ(made_up::left(), 0) << "requests";
        });
    }
}

TEST(Operations, a_send_that_fails_is_an_error_and_receives_are_taken_back) {
    play(2, [] {
        std::array<int, 64> input{}, output{};
        Datatype derived;
        const Datatype& type = *describe(MPI_INT, derived);
        const Reduction sum(MPI_SUM, type);
        Operation operation;
        const Plan plan = plan_of_call("allreduce", "halving_doubling", 64, 4);
        if (made_up::rank() == 0) {
            made_up::fail("Isend", MPI_ERR_OTHER);
            EXPECT_EQ(operation.run(plan, {input.data(), output.data(), type, &sum}, *WorldRoute()), MPI_ERR_OTHER);
            EXPECT_EQ(made_up::calls("Cancel"), made_up::calls("Irecv"));
            EXPECT_GE(made_up::calls("Irecv"), 1);
            EXPECT_EQ(made_up::left(), 0);
        }
    });
}

TEST(Operations, an_error_of_a_reduction_is_one_of_the_call) {
    play(2, [] {
        const auto nothing = [](const void*, void*, int) {};
        Datatype derived;
        const Datatype& type = *describe(MPI_INT, derived);
        const Reduction reduction(made_up::make_operator(nothing, true), type);
        int input = 1, output = 0;
        Operation operation;
        made_up::fail("Reduce_local", MPI_ERR_INTERN);
        const Plan plan = plan_of_call("allreduce", "recursive_doubling", 1, 4);
        EXPECT_EQ(operation.run(plan, {&input, &output, type, &reduction}, *WorldRoute()), MPI_ERR_INTERN);
        EXPECT_EQ(operation.run(plan, {&input, &output, type, &reduction}, *WorldRoute(1)), MPI_SUCCESS) << "the next";
    });
}

TEST(Operations, without_memory_for_scratch_nothing_has_begun) {
    play(2, [] {
        std::vector<int> input(10000, 1), output(10000);
        Datatype derived;
        const Datatype& type = *describe(MPI_INT, derived);
        const Reduction sum(MPI_SUM, type);
        Operation operation;
        const Plan plan = plan_of_call("allreduce", "recursive_doubling", 10000, 4);
        ASSERT_GT(plan.scratch(), 0);
        {
            const made_up::NoMemory none(10000);
            EXPECT_THROW(operation.run(plan, {input.data(), output.data(), type, &sum}, *WorldRoute()), std::bad_alloc);
        }
        EXPECT_EQ(made_up::calls("Isend") + made_up::calls("Irecv"), 0);
        EXPECT_EQ(operation.run(plan, {input.data(), output.data(), type, &sum}, *WorldRoute()), MPI_SUCCESS);
        EXPECT_EQ(output[9999], 2);
    });
}

}  // namespace
}  // namespace rondo::mpi
