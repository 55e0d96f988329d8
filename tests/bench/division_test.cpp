// SPDX-License-Identifier: BSD-3-Clause
// Parts that the benchmark driver divides vectors into.
#include "apps/bench/division.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace rondo::bench {
namespace {

std::vector<std::int64_t> counts(const Division& division, int ranks) {
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) found.push_back(division.part(rank).count);
    return found;
}

TEST(Division, has_as_many_elements_however_it_is_skewed) {
    EXPECT_THAT(counts(Division(Parts::equal, 7, 3), 3), testing::ElementsAre(7, 7, 7));
    EXPECT_THAT(counts(Division(Parts::skewed, 10, 7), 7), testing::ElementsAre(3, 6, 9, 12, 0, 18, 22));
    for (int ranks = 1; ranks <= 40; ++ranks) {
        for (const std::int64_t count : {0, 1, 2, 61, 1'000'000}) {
            const Division division(Parts::skewed, count, ranks);
            std::int64_t end = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                EXPECT_EQ(division.part(rank).start, end);
                if (rank % 5 == 4) EXPECT_EQ(division.part(rank).count, 0);
                end += division.part(rank).count;
            }
            EXPECT_EQ(end, count * ranks);
            EXPECT_EQ(division.elements(), end);
        }
    }
}

// What one rank says that it sends is what the other says that it receives, and both vectors are filled without gaps.
TEST(Division, fits_together_in_exchanges_of_all_with_all) {
    for (int ranks = 1; ranks <= 12; ++ranks) {
        for (const Parts parts : {Parts::equal, Parts::skewed}) {
            const Division division(parts, 61, ranks);
            for (int rank = 0; rank < ranks; ++rank) {
                std::int64_t sent = 0, received = 0;
                for (int other = 0; other < ranks; ++other) {
                    EXPECT_EQ(division.sent(rank, other).count, division.received(rank, other).count);
                    EXPECT_EQ(division.sent(rank, other).start, sent);
                    EXPECT_EQ(division.received(other, rank).start, received);
                    sent += division.sent(rank, other).count;
                    received += division.received(other, rank).count;
                }
                EXPECT_EQ(sent, division.elements());
                EXPECT_EQ(received, division.elements());
            }
        }
    }
}

}  // namespace
}  // namespace rondo::bench
