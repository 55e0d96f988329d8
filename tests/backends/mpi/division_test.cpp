// SPDX-License-Identifier: BSD-3-Clause
// How users cut vectors, in short.
#include "rondo/backends/mpi/division.hpp"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>

namespace rondo::mpi {
namespace {

template <class Number, std::size_t size>
Division divide(const std::array<Number, size>& counts, Count unit = 1) {
    const Numbers numbers(counts.data(), sizeof(Number) == sizeof(int));
    return Division::of(PartCounts(numbers, static_cast<Rank>(size)), unit);
}

TEST(Divisions, numbers_are_ints_or_of_64_bits) {
    const std::array<int, 2> ints{-1, 2};
    const std::array<std::int64_t, 2> words{-1, std::int64_t{1} << 40};
    EXPECT_EQ(Numbers(ints.data(), true)[0], -1);
    EXPECT_EQ(Numbers(ints.data(), true)[1], 2);
    EXPECT_EQ(Numbers(words.data(), false)[1], Count{1} << 40);
    EXPECT_FALSE(Numbers().is_argument());
    EXPECT_TRUE(Numbers(nullptr, true).is_argument());
}

TEST(Divisions, even_parts_are_alike_whoever_counts_them) {
    const Division even = Division::of(PartCounts(4, 3), 2);
    EXPECT_EQ(even.count, 24);
    EXPECT_EQ(even.hash, 0);
    EXPECT_EQ(divide(std::array<int, 3>{4, 4, 4}, 2).hash, 0);
    EXPECT_EQ(divide(std::array<int, 3>{8, 8, 7}).hash, 0) << "as Parts cuts 23";
    EXPECT_NE(divide(std::array<int, 3>{7, 8, 8}).hash, 0);
    EXPECT_NE(divide(std::array<int, 3>{8, 8, 7}, 2).hash, 0) << "46 bytes are cut otherwise";
}

TEST(Divisions, other_parts_of_the_same_sum_are_told_apart) {
    std::set<std::uint32_t> hashes;
    for (const auto& counts : {std::array<int, 3>{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {6, 0, 0}, {0, 6, 0}, {0, 0, 6}}) {
        const Division division = divide(counts);
        EXPECT_EQ(division.count, 6);
        EXPECT_NE(division.hash, 0);
        hashes.insert(division.hash);
    }
    EXPECT_EQ(hashes.size(), 6);
    EXPECT_EQ(divide(std::array<int, 3>{1, 2, 3}, 4).hash, divide(std::array<int, 3>{4, 8, 12}).hash) << "in bytes";
}

TEST(Divisions, a_part_of_less_than_nothing_makes_no_division) {
    EXPECT_EQ(divide(std::array<int, 2>{3, -1}).count, -1);
    EXPECT_EQ(Division::of(PartCounts(-2, 4), 1).count, -1);
}

TEST(Divisions, a_hash_stands_for_starts_that_are_kept_beside_it) {
    const std::array<int, 3> counts{2, 0, 3}, others{2, 1, 2};
    const PartCounts parts(Numbers(counts.data(), true), 3), other(Numbers(others.data(), true), 3);
    EXPECT_EQ(starts_of(parts, 2), (std::vector<Count>{0, 4, 4, 10}));
    EXPECT_TRUE(starts_at(parts, 2, starts_of(parts, 2)));
    EXPECT_FALSE(starts_at(other, 2, starts_of(parts, 2)));
    EXPECT_FALSE(starts_at(parts, 1, starts_of(parts, 2)));
    const std::array<int, 3> longer{2, 0, 4};
    EXPECT_FALSE(starts_at(PartCounts(Numbers(longer.data(), true), 3), 2, starts_of(parts, 2)));
}

}  // namespace
}  // namespace rondo::mpi
