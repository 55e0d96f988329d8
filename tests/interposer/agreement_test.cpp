// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other about calls that are compared.
#include "rondo/guard/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "rondo/guard/communicator_site.hpp"
#include "tests/interposer/program.hpp"

namespace rondo::guard {
namespace {

TEST(Agreement, times_are_those_of_the_slowest_rank_and_travel_in_short_pieces) {
    mpi::made_up::play(3, [] {
        int rank = 0;
        mpi::library().Comm_rank(MPI_COMM_WORLD, &rank);
        Trial::Times times;
        for (std::size_t call = 0; call < times.size(); ++call) {
            times[call] = call % 3 == static_cast<std::size_t>(rank) ? 100.0F + static_cast<float>(call) : 1.0F;
        }
        ASSERT_TRUE(exchange_times(MPI_COMM_WORLD, times));
        for (std::size_t call = 0; call < times.size(); ++call) {
            EXPECT_EQ(times[call], 100.0F + static_cast<float>(call));
        }
        EXPECT_EQ(mpi::made_up::longest_allreduce(), 32) << "more makes broadcasts of Intel MPI go wrong";
    });
}

TEST(Agreement, fails_if_any_of_its_calls_fails) {
    mpi::made_up::play(2, [] {
        mpi::made_up::return_errors(MPI_COMM_WORLD);
        Trial::Times times{};
        mpi::made_up::fail("Allreduce", MPI_ERR_OTHER, 1, 1);
        EXPECT_FALSE(exchange_times(MPI_COMM_WORLD, times));
        EXPECT_TRUE(exchange_times(MPI_COMM_WORLD, times));
    });
}

// All ranks know that one of them is not ready, whether the call makes ranks wait for each other or not.
TEST(Agreement, a_rank_that_is_not_ready_is_known_to_all) {
    interposer::run(3, {{"RONDO_ALLREDUCE", "recursive_doubling"}}, [] {
        EXPECT_EQ(interposer::allreduce(MPI_COMM_WORLD), 6);  // after which there is a context
        mpi::Communicator& world = **mpi::Communicator::of(MPI_COMM_WORLD);
        for (const bool waits_for_all : {true, false}) {
            const auto meet = [&](bool ready) {
                return timed_barrier(world, MPI_COMM_WORLD, ready, waits_for_all, {});
            };
            EXPECT_EQ(meet(mpi::made_up::rank() != 1), Attendance::not_all_ready);
            EXPECT_EQ(meet(true), Attendance::all_ready);
        }
    });
}

/// True if a copy of the world has the world's trial of some calls.
bool copy_shares_trials() {
    EXPECT_EQ(interposer::allreduce(MPI_COMM_WORLD), 3);
    const MPI_Comm copy = mpi::made_up::duplicate(MPI_COMM_WORLD);
    EXPECT_EQ(interposer::allreduce(copy), 3);
    const auto trial_on = [](MPI_Comm comm) {
        CommunicatorSite site(**mpi::Communicator::of(comm), comm, true);
        return site.trials().join({{.length = 60}, 8, nullptr}, [] { return std::optional<Trial>(); });
    };
    const Trial *const of_world = trial_on(MPI_COMM_WORLD), *const of_copy = trial_on(copy);
    EXPECT_TRUE(of_world != nullptr && of_copy != nullptr);
    mpi::made_up::free(copy);
    return of_world == of_copy;
}

// Where each thread may call MPI, ranks may see calls of two communicators in different orders.
TEST(Trials, are_shared_by_communicators_unless_every_thread_may_call) {
    interposer::run(2, {{"RONDO_ALLREDUCE", "recursive_doubling"}}, [] { EXPECT_TRUE(copy_shares_trials()); });
    mpi::made_up::play(2, [] {
        mpi::made_up::behaviour().threads = MPI_THREAD_MULTIPLE;
        interposer::start({{"RONDO_ALLREDUCE", "recursive_doubling"}});
        EXPECT_FALSE(copy_shares_trials());
        mpi::made_up::finalize();
    });
}

}  // namespace
}  // namespace rondo::guard
