// SPDX-License-Identifier: BSD-3-Clause
// What can go wrong on the way: messages that fail, memory that is not there, error handlers that free communicators.
#include <array>
#include <optional>

#include "tests/backends/mpi/memory.hpp"
#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Variables forced() { return {{"RONDO_ALLREDUCE", "recursive_doubling"}, {"RONDO_BCAST", "binomial"}}; }

TEST(Errors, of_messages_are_told_to_the_handler_of_the_users_communicator) {
    run(2, forced(), [] {
        MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        int told = 0;
        made_up::handle_errors(comm, [&](int code) { told = code; });
        allreduce(comm);
        int number = 1, sum = 0;
        made_up::fail("Isend", MPI_ERR_OTHER);
        made_up::fail("Send", MPI_ERR_OTHER);
        EXPECT_EQ(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_OTHER);
        EXPECT_EQ(told, MPI_ERR_OTHER);
        ASSERT_EQ(made_up::handled().size(), 1);
        EXPECT_EQ(made_up::handled()[0].comm, comm);
        made_up::free(comm);
    });
}

TEST(Errors, of_one_call_are_none_of_the_next) {
    run(2, forced(), [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::return_errors(comm);
        std::array<int, 4> numbers{};
        // The root sends more than the other rank has asked for.
        const int count = made_up::rank() == 0 ? 4 : 2;
        const int error = MPI_Bcast(numbers.data(), count, MPI_INT, 0, comm);
        EXPECT_EQ(error, made_up::rank() == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        for (int call = 0; call < 3; ++call) EXPECT_EQ(allreduce(comm), 3);
        EXPECT_EQ(left("allreduce") + left("bcast"), 0);
        made_up::free(comm);
    });
}

// The others have made the call: tags have to stay alike, or the next message would be taken for its one.
TEST(Errors, of_arguments_of_one_rank_leave_the_next_call_right) {
    run(2, forced(), [] {
        int number = 1;
        if (made_up::rank() == 0) {
            EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        } else {
            made_up::fail("Bcast", MPI_ERR_BUFFER);
            EXPECT_EQ(MPI_Bcast(nullptr, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
            EXPECT_EQ(reason("bcast"), "doubtful buffers");
        }
        number = made_up::rank() == 0 ? 2 : 0;
        EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(number, 2);
    });
}

TEST(Errors, a_handler_may_free_the_communicator_that_it_is_told_of) {
    run(2, forced(), [] {
        MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::handle_errors(comm, [&](int /*code*/) { made_up::free(comm); });
        for (int call = 0; call < 2; ++call) allreduce(comm);
        int number = 1, sum = 0;
        made_up::fail("Isend", MPI_ERR_OTHER);
        made_up::fail("Send", MPI_ERR_OTHER);
        EXPECT_EQ(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_OTHER);
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
    });
}

TEST(Errors, without_memory_for_its_plan_a_rank_fails_alone) {
    run(2, forced(), [] {
        made_up::return_errors(MPI_COMM_WORLD);
        allreduce(MPI_COMM_WORLD);
        std::array<int, 2> numbers{7, 7};
        int error = MPI_SUCCESS;
        {
            std::optional<made_up::NoMemory> none;
            if (made_up::rank() == 0) none.emplace(1);
            error = MPI_Bcast(numbers.data(), 2, MPI_INT, 1, MPI_COMM_WORLD);
        }
        EXPECT_EQ(error, made_up::rank() == 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS);
        EXPECT_EQ(left("bcast"), 0) << "nobody leaves the other";
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3) << "tags stay alike";
        numbers = {made_up::rank(), made_up::rank()};
        EXPECT_EQ(MPI_Bcast(numbers.data(), 2, MPI_INT, 1, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(numbers[1], 1);
    });
}

TEST(Errors, of_the_librarys_own_function_come_back) {
    run(2, {}, [] {
        int number = 0, sum = 0;
        made_up::fail("Scan", MPI_ERR_OTHER);
        EXPECT_EQ(MPI_Scan(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OTHER);
        EXPECT_EQ(MPI_Scan(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    });
}

TEST(Errors, a_communicator_without_a_context_leaves_its_calls_to_the_library) {
    run(2, forced(), [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::fail("Allreduce", MPI_ERR_OTHER);
        EXPECT_EQ(allreduce(comm), 3);
        EXPECT_EQ(reason("allreduce"), "no context for messages to be had");
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
        EXPECT_EQ(left("allreduce"), 1);
        made_up::free(comm);
    });
}

}  // namespace
}  // namespace rondo::interposer
