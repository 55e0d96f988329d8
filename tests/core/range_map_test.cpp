// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/range_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <random>
#include <vector>

namespace rondo {
namespace {

constexpr Count elements = 30;
using Map = RangeMap<int>;

/// What a map holds, element by element, and how many runs that took.
struct Contents {
    std::vector<int> values;
    int runs = 0;
};

Contents contents_of(Map& map, Count first, Count last) {
    Contents contents;
    Count next = first;
    map.visit(first, last, [&](Count from, Count to, int value) {
        EXPECT_EQ(from, next);
        EXPECT_LT(from, to);
        next = to;
        contents.values.insert(contents.values.end(), static_cast<std::size_t>(to - from), value);
        ++contents.runs;
    });
    EXPECT_EQ(next, last);
    return contents;
}

std::vector<int> part(const std::vector<int>& values, Count first, Count last) {
    return {values.begin() + first, values.begin() + last};
}

TEST(RangeMap, holds_what_was_put_there) {
    std::mt19937 random(1);
    for (int trial = 0; trial < 200; ++trial) {
        std::pmr::monotonic_buffer_resource memory;
        Map map(&memory);
        std::vector<int> expected(elements, 0);
        for (int value = 1; value <= 40; ++value) {
            Count first = std::uniform_int_distribution<Count>(0, elements - 1)(random);
            Count last = std::uniform_int_distribution<Count>(first + 1, elements)(random);
            std::vector<int> before;
            const auto note = [&](Count from, Count to, int old) {
                before.insert(before.end(), static_cast<std::size_t>(to - from), old);
            };
            switch (random() % 3) {
                case 0: map.assign(first, last, value); break;
                case 1:
                    map.replace(first, last, value, note);
                    EXPECT_EQ(before, part(expected, first, last));
                    break;
                default: map.visit(first, last, [&](Count, Count, int& run) { run = value; }); break;
            }
            std::fill(expected.begin() + first, expected.begin() + last, value);
            ASSERT_EQ(contents_of(map, first, last).values, part(expected, first, last));
            if (value % 8 > 0) continue;  // the next one starts from here, wherever it goes
            ASSERT_EQ(contents_of(map, 0, elements).values, expected) << "trial " << trial;
        }
    }
}

TEST(RangeMap, needs_one_run_for_what_is_assigned) {
    Map map;
    for (Count first = 0; first < 10; ++first) map.assign(first, first + 1, int(first));
    EXPECT_EQ(contents_of(map, 0, 10).runs, 10);
    map.assign(2, 8, 7);
    EXPECT_EQ(contents_of(map, 2, 8).runs, 1);
    EXPECT_EQ(contents_of(map, 0, 10).values, (std::vector<int>{0, 1, 7, 7, 7, 7, 7, 7, 8, 9}));
}

TEST(RangeMap, leaves_empty_ranges_alone) {
    Map map;
    map.assign(0, 4, 1);
    map.assign(2, 2, 9);
    map.replace(3, 1, 9, [](Count, Count, int) { ADD_FAILURE(); });
    map.visit(2, 2, [](Count, Count, int) { ADD_FAILURE(); });
    EXPECT_EQ(contents_of(map, 0, 4).runs, 1);
}

}  // namespace
}  // namespace rondo
