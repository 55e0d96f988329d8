// SPDX-License-Identifier: BSD-3-Clause
// Ranks that wait for each other, but not for ever.
#include "rondo/backends/mpi/roll_call.hpp"

#include <unistd.h>

#include <array>
#include <gtest/gtest.h>

#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi {
namespace {

constexpr std::uint64_t second = 1'000'000'000;  // nanoseconds
constexpr int tag = 5;

Route route_of(std::span<const Rank> ranks) { return {MPI_COMM_WORLD, ranks, made_up::rank(), tag, nullptr, false}; }

TEST(RollCalls, all_ranks_hear_the_least_values_of_all) {
    for (const int size : {2, 3, 5, 8}) {
        made_up::play(size, [size] {
            constexpr std::array<Rank, 8> ranks{0, 1, 2, 3, 4, 5, 6, 7};
            const Route route = route_of(std::span(ranks).first(static_cast<std::size_t>(size)));
            for (int call = 0; call < 3; ++call) {
                long long values[2] = {100 + made_up::rank() + call, -made_up::rank()};
                const Roll roll = call_roll(route, Context(), values, 10 * second);
                EXPECT_TRUE(roll.is_complete);
                EXPECT_EQ(values[0], 100 + call);
                EXPECT_EQ(values[1], 1 - size);
                EXPECT_EQ(roll.hears_lower_ranks, made_up::rank() > 0);
            }
            end_roll_calls();
            EXPECT_EQ(made_up::left(), 0);
        });
    }
}

TEST(RollCalls, no_rank_waits_for_long_and_all_hear_of_it) {
    made_up::play(4, [] {
        constexpr std::array<Rank, 4> ranks{0, 1, 2, 3};
        constexpr int late = 2;
        if (made_up::rank() == late) ::usleep(300'000);
        long long values[1] = {1};
        const Roll roll = call_roll(route_of(ranks), Context(), values, second / 20);
        EXPECT_FALSE(roll.is_complete);
        if (made_up::rank() == late) {
            EXPECT_TRUE(roll.hears_lower_ranks);
        }
        // Each message is received in the end, and none is taken for one of the next roll call.
        values[0] = 7;
        const Roll next = call_roll(route_of(ranks), Context(), values, 10 * second);
        EXPECT_TRUE(next.is_complete);
        end_roll_calls();
        EXPECT_EQ(made_up::left(), 0);
    });
}

TEST(RollCalls, a_rank_that_never_comes_keeps_nobody_waiting) {
    made_up::play(3, [] {
        constexpr std::array<Rank, 3> ranks{0, 1, 2};
        constexpr int missing = 0;
        if (made_up::rank() == missing) return;
        long long values[1] = {1};
        const Roll roll = call_roll(route_of(ranks), Context(), values, second / 20);
        EXPECT_FALSE(roll.is_complete);
        if (made_up::rank() == 1) {
            EXPECT_FALSE(roll.hears_lower_ranks) << "it is the first that has come";
        }
        end_roll_calls();
    });
}

TEST(RollCalls, a_rank_that_cannot_send_gives_up) {
    made_up::play(2, [] {
        made_up::return_errors(MPI_COMM_WORLD);
        constexpr std::array<Rank, 2> ranks{0, 1};
        made_up::fail("Isend", MPI_ERR_OTHER, made_up::rank() == 0 ? 1 : 0);
        long long values[1] = {1};
        EXPECT_FALSE(call_roll(route_of(ranks), Context(), values, second / 20).is_complete);
        end_roll_calls();
    });
}

}  // namespace
}  // namespace rondo::mpi
