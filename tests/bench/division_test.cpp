// SPDX-License-Identifier: BSD-3-Clause
// Parts that the benchmark driver divides vectors into.
#include "apps/bench/division.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace rondo::bench {
namespace {

std::vector<std::int64_t> counts(const Division& division, int ranks) {
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) found.push_back(division.part(rank).count);
    return found;
}

constexpr Parts every_kind[] = {Parts::equal,  Parts::skewed, Parts::uniform,
                                Parts::normal, Parts::heavy,  Parts::sparse};

TEST(Division, has_as_many_elements_whatever_the_parts) {
    EXPECT_THAT(counts(Division(Parts::equal, 7, 3, 0), 3), testing::ElementsAre(7, 7, 7));
    EXPECT_THAT(counts(Division(Parts::skewed, 10, 7, 0), 7), testing::ElementsAre(3, 6, 9, 12, 0, 18, 22));
    EXPECT_THAT(counts(Division(Parts::skewed, 10, 7, 2), 7), testing::ElementsAre(18, 21, 3, 6, 9, 13, 0));
    for (const Parts parts : every_kind) {
        for (int ranks = 1; ranks <= 40; ++ranks) {
            for (const std::int64_t count : {0, 1, 2, 61, 1'000'000}) {
                const Division division(parts, count, ranks, ranks / 3);
                std::int64_t end = 0;
                for (int rank = 0; rank < ranks; ++rank) {
                    EXPECT_EQ(division.part(rank).start, end);
                    EXPECT_GE(division.part(rank).count, 0);
                    end += division.part(rank).count;
                }
                EXPECT_EQ(end, count * ranks);
                EXPECT_EQ(division.elements(), end);
            }
        }
    }
}

TEST(Division, distributes_lengths_as_its_name_says) {
    constexpr int ranks = 64;
    constexpr std::int64_t mean = 10'000;
    const auto all = [](Parts parts) {
        std::vector<std::int64_t> lengths;
        for (int from = 0; from < ranks; ++from) {
            const auto row = counts(Division(parts, mean, ranks, from), ranks);
            lengths.insert(lengths.end(), row.begin(), row.end());
        }
        return lengths;
    };
    const auto share = [&](Parts parts, std::int64_t least, std::int64_t most) {
        const auto lengths = all(parts);
        const auto within = std::ranges::count_if(lengths, [&](auto each) { return each >= least && each < most; });
        return static_cast<double>(within) / static_cast<double>(lengths.size());
    };
    EXPECT_NEAR(share(Parts::uniform, 0, mean), 0.5, 0.03);
    EXPECT_NEAR(share(Parts::uniform, 0, mean / 2), 0.25, 0.03);
    EXPECT_NEAR(share(Parts::normal, mean * 2 / 3, mean * 4 / 3), 0.68, 0.03);  // one deviation
    EXPECT_NEAR(share(Parts::normal, mean / 3, mean * 5 / 3), 0.95, 0.03);      // two
    EXPECT_NEAR(share(Parts::sparse, 0, 1), 0.9, 0.02);
    const auto heavy = counts(Division(Parts::heavy, mean, ranks, 3), ranks);
    EXPECT_NEAR(static_cast<double>(heavy[ranks / 2]) / static_cast<double>(heavy[0]), 10, 0.1);
}

TEST(Division, tells_how_much_comes_to_the_rank_that_gets_most) {
    EXPECT_EQ(most_received(Parts::equal, 7, 5), 35);
    EXPECT_EQ(most_received(Parts::heavy, 13, 4), 4 * 40);
    EXPECT_EQ(most_received(Parts::heavy, 1'000'000'000, 2), 2 * 1'818'181'819L);
}

}  // namespace
}  // namespace rondo::bench
