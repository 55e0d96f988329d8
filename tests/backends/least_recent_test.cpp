// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/least_recent.hpp"

#include <gtest/gtest.h>
#include <string>

namespace rondo::mpi {
namespace {

using Map = LeastRecent<int, std::string, std::hash<int>>;

TEST(LeastRecent, forgets_what_was_not_asked_for_the_longest_time) {
    Map map;
    for (const int key : {1, 2, 3}) map.add(key, std::to_string(key));
    EXPECT_EQ(map.oldest().first, 1);
    EXPECT_EQ(map.find(1)->second, "1");
    EXPECT_EQ(map.oldest().first, 2);
    map.forget_oldest();
    EXPECT_EQ(map.find(2), nullptr);
    EXPECT_EQ(map.size(), 2);
    map.forget(3);
    EXPECT_EQ(map.oldest().first, 1);
}

TEST(LeastRecent, entries_keep_their_addresses) {
    Map map;
    const Map::Entry* const first = &map.add(0, "first");
    for (int key = 1; key < 1000; ++key) map.add(key, "other");
    EXPECT_EQ(map.find(0), first);
}

}  // namespace
}  // namespace rondo::mpi
