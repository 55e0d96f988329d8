// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/divided_ranges.hpp"

#include <gtest/gtest.h>

namespace rondo::topology {
namespace {

std::size_t ceil_log(Rank base, Rank size) {
    std::size_t log = 0;
    for (std::int64_t power = 1; power < size; power *= base) ++log;
    return log;
}

void for_every_division(auto&& body) {
    for (Rank size = 1; size <= 40; ++size) {
        for (const Rank k : {1, 2, 3, 6, 50}) {
            for (Rank root = 0; root < size; ++root) {
                SCOPED_TRACE(testing::Message() << size << " ranks, root " << root << ", k " << k);
                body(size, root, k);
                if (testing::Test::HasFailure()) return;
            }
        }
    }
}

TEST(divided_ranges, are_known_alike_to_who_speaks_and_who_hears) {
    for_every_division([](Rank size, Rank root, Rank k) {
        std::vector<Rank> heard_of(static_cast<std::size_t>(size), 0);
        for (Rank rank = 0; rank < size; ++rank) {
            const PlaceInRanges place = place_in_ranges(rank, root, size, k);
            EXPECT_EQ(place.parent == no_rank, rank == root);
            for (const auto& round : place.rounds) {
                EXPECT_LE(round.size(), k);
                for (const RankRange& range : round) {
                    const PlaceInRanges child = place_in_ranges(range.root, root, size, k);
                    EXPECT_EQ(child.parent, rank);
                    EXPECT_EQ(child.own.first, range.first);
                    EXPECT_EQ(child.own.last, range.last);
                    ++heard_of[static_cast<std::size_t>(range.root)];
                }
            }
        }
        for (Rank rank = 0; rank < size; ++rank) {
            EXPECT_EQ(heard_of[static_cast<std::size_t>(rank)], rank == root ? 0 : 1);
        }
    });
}

TEST(divided_ranges, fill_the_range_of_their_root) {
    for_every_division([](Rank size, Rank root, Rank k) {
        for (Rank rank = 0; rank < size; ++rank) {
            const PlaceInRanges place = place_in_ranges(rank, root, size, k);
            std::vector<int> times(static_cast<std::size_t>(size), 0);
            ++times[static_cast<std::size_t>(rank)];
            for (const auto& round : place.rounds) {
                for (const RankRange& range : round) {
                    for (Rank each = range.first; each < range.last; ++each) ++times[static_cast<std::size_t>(each)];
                }
            }
            for (Rank each = 0; each < size; ++each) {
                EXPECT_EQ(times[static_cast<std::size_t>(each)], place.own.holds(each) ? 1 : 0);
            }
        }
    });
}

TEST(divided_ranges, are_of_one_rank_after_ceil_log_rounds) {
    for_every_division([](Rank size, Rank root, Rank k) {
        // The range of a rank in the middle may be shorter by one.
        const std::size_t rounds = place_in_ranges(root, root, size, k).rounds.size();
        EXPECT_LE(rounds, ceil_log(k + 1, size));
        if (root == 0) EXPECT_EQ(rounds, ceil_log(k + 1, size));
    });
}

}  // namespace
}  // namespace rondo::topology
