// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/circulant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/sanitized.hpp"

namespace rondo::topology {
namespace {

constexpr Rank largest_size = is_sanitized ? 130 : 2048;

std::vector<CirculantSchedule> schedules(const CirculantSkips& skips) {
    std::vector<CirculantSchedule> all;
    all.reserve(static_cast<std::size_t>(skips.size()));
    for (Rank rank = 0; rank < skips.size(); ++rank) all.emplace_back(rank, skips);
    return all;
}

TEST(circulant_skips, halve_the_size_rounded_up) {
    const CirculantSkips skips(17);
    std::vector<Rank> all;
    for (int round = 0; round <= skips.rounds(); ++round) all.push_back(skips.skip(round));
    EXPECT_THAT(all, testing::ElementsAre(1, 2, 3, 5, 9, 17));
    EXPECT_EQ(CirculantSkips(1).rounds(), 0);
    EXPECT_EQ(skips.up(16, 4), 8);
    EXPECT_EQ(skips.down(3, 4), 11);
    const CirculantSkips largest(2147483647);
    EXPECT_EQ(largest.rounds(), 31);
    EXPECT_EQ(largest.up(2147483646, 30), 1073741823);
}

/// circulant.md: the values of an independent implementation.
TEST(circulant_schedule, is_the_known_one_for_17_ranks) {
    const int expected[5][17] = {
        {-4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5},
        {-5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2},
        {-2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3},
        {-1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1},
        {-3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1},
    };
    const CirculantSkips skips(17);
    for (Rank rank = 0; rank < 17; ++rank) {
        const CirculantSchedule schedule(rank, skips);
        for (int round = 0; round < 5; ++round) EXPECT_EQ(schedule.receives(round), expected[round][rank]);
    }
}

TEST(circulant_schedule, keeps_its_invariants_for_every_size) {
    for (Rank size = 2; size <= largest_size; ++size) {
        const CirculantSkips skips(size);
        const int q = skips.rounds();
        const std::vector<CirculantSchedule> all = schedules(skips);
        for (Rank rank = 0; rank < size; ++rank) {
            const CirculantSchedule& own = all[static_cast<std::size_t>(rank)];
            std::uint64_t received = 0;  // a bit for each number, from -q up
            const auto bit = [q](int number) { return std::uint64_t{1} << (number + q); };
            int base = -1;
            for (int round = 0; round < q; ++round) {
                // What is sent is what is received at the other end.
                const Rank to = skips.up(rank, round);
                if (to != 0) ASSERT_EQ(own.sends(round), all[static_cast<std::size_t>(to)].receives(round)) << size;
                if (rank == 0) ASSERT_EQ(own.sends(round), round);
                if (own.receives(round) >= 0) base = own.receives(round);
                received |= bit(own.receives(round));
            }
            if (rank == 0) continue;
            // In q rounds, q different blocks: one of this pass, the others of the pass before.
            ASSERT_GE(base, 0) << size;
            ASSERT_EQ(received, ((bit(0) - 1) | bit(base)) & ~bit(base - q));
            // Only what has arrived is sent: in an earlier round, or in the pass before as the base block.
            for (int round = 0; round < q; ++round) {
                bool known = own.sends(round) == base - q;
                for (int earlier = 0; earlier < round; ++earlier) known |= own.sends(round) == own.receives(earlier);
                ASSERT_TRUE(known) << "size " << size << ", rank " << rank << ", round " << round;
            }
        }
    }
}

TEST(circulant_rounds, end_a_pass_with_the_last_round) {
    const CirculantRounds rounds(5, 7);
    EXPECT_EQ(rounds.size(), 11);
    EXPECT_EQ(rounds.skip_of(rounds.size() - 1), 4);
    // The root's block of round k of a pass is k: the first rounds of the first pass are left out.
    std::vector<Count> sent;
    sent.reserve(static_cast<std::size_t>(rounds.size()));
    for (Count round = 0; round < rounds.size(); ++round) sent.push_back(rounds.block(round, rounds.skip_of(round)));
    EXPECT_THAT(sent, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6));
    EXPECT_EQ(rounds.block(0, -1), -1);
    EXPECT_EQ(CirculantRounds(5, 0).size(), 0);
    EXPECT_EQ(CirculantRounds(0, 7).size(), 0);
}

}  // namespace
}  // namespace rondo::topology
