// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/link_figures.hpp"

#include <gtest/gtest.h>

#include "tests/backends/mpi/made_up_library.hpp"
#include "tests/backends/mpi/memory.hpp"

namespace rondo::mpi {
namespace {

constexpr double seconds = 0.05;

std::optional<LinkFigures> measure() {
    made_up::return_errors(MPI_COMM_WORLD);
    return measure_link(MPI_COMM_WORLD, made_up::rank(), 0, 1, seconds);
}

TEST(LinkFigures, are_those_of_the_first_rank) {
    made_up::play(2, [] {
        int known = 0;
        for (int i = 0; i < 5; ++i) {  // a busy machine may spoil some
            const auto figures = measure();
            if (!figures) continue;
            ++known;
            EXPECT_GT(figures->latency, 0);
            EXPECT_GT(figures->per_byte, 0);
            EXPECT_LT(figures->per_byte, figures->latency) << "eight bytes are short";
            EXPECT_GE(figures->overhead, 0);
        }
        EXPECT_EQ(known > 0, made_up::rank() == 0);
    });
}

TEST(LinkFigures, are_none_after_a_message_that_has_failed) {
    for (const int after : {0, 1, 2, 7}) {
        made_up::play(2, [after] {
            // A message fails at both ends; the first rank then says that this was all.
            if (made_up::rank() == 0) made_up::fail("Send", MPI_ERR_OTHER, 1, after);
            else made_up::fail("Recv", MPI_ERR_OTHER, 1, after);
            EXPECT_EQ(measure(), std::nullopt) << after;
        });
    }
}

TEST(LinkFigures, are_none_where_a_rank_has_no_memory) {
    for (const int without : {0, 1}) {
        made_up::play(2, [without] {
            constexpr std::size_t large = 1 << 20;
            if (made_up::rank() != without) {
                EXPECT_EQ(measure(), std::nullopt);
                return;
            }
            const made_up::NoMemory none(large);
            EXPECT_EQ(measure(), std::nullopt);
        });
    }
}

}  // namespace
}  // namespace rondo::mpi
