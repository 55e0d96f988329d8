// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/conditions.hpp"

#include <gtest/gtest.h>

namespace rondo {
namespace {

constexpr Count unbounded = any_count.highest;

TEST(ConditionText, has_round_numbers) {
    EXPECT_EQ(condition_text(Rules::bytes, {0, 8191}), "bytes < 8Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {0, 8192}), "bytes <= 8Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {8193, unbounded}), "bytes > 8Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {8192, unbounded}), "bytes >= 8Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {1024, 8192}), "bytes in 1Ki..8Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {8193, 65536}), "bytes > 8Ki, bytes <= 64Ki");
    EXPECT_EQ(condition_text(Rules::bytes, {1000, 1000}), "bytes = 1000");
    EXPECT_EQ(condition_text(Rules::processes, {9, 2147483647}), "processes > 8");
    EXPECT_EQ(condition_text(Rules::processes, {1, 12}), "processes <= 12");
    EXPECT_EQ(condition_text(Rules::fewest_on_node, {1, 2147483647}), "ranks_per_node >= 1");
}

TEST(ConditionText, names_what_is_no_number) {
    EXPECT_EQ(condition_text(Rules::commutative, {0, 0}), "commutative = no");
    EXPECT_EQ(condition_text(Rules::library, {3, 3}), "library = impi");
    EXPECT_EQ(value_text(Rules::library, {0, 0}), "another");
    EXPECT_EQ(value_text(Rules::eager, {unbounded, unbounded}), "no limit");
    EXPECT_EQ(value_text(Rules::fewest_on_node, {3, 4}), "3 to 4");
    EXPECT_EQ(value_text(Rules::nodes, {0, 0}), "unknown");
}

/// Every condition is read back as it was meant.
TEST(ConditionText, is_a_condition) {
    for (const Count lowest : {0, 1, 2, 7, 8, 9, 1000, 1023, 1024, 1025}) {
        for (const Count highest : {Count{1025}, Count{1026}, Count{1 << 20}, unbounded}) {
            const std::string text = condition_text(Rules::bytes, {lowest, highest});
            const Rules rules = Rules::parse("exscan " + text + " -> native", "test");
            for (const Count bytes : {lowest - 1, lowest, highest, highest == unbounded ? lowest : highest + 1}) {
                if (bytes < 0) continue;
                EXPECT_EQ(rules.match({.collective = "exscan", .bytes = bytes}) != nullptr,
                          lowest <= bytes && bytes <= highest)
                    << text << ", " << bytes;
            }
        }
    }
}

}  // namespace
}  // namespace rondo
