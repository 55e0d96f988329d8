// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/shared_wire.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rondo::virtual_machine {
namespace {

/// Empties the wire: messages with the times at which they are through, in this order.
std::vector<std::pair<std::uint32_t, double>> rest_of(SharedWire& wire) {
    std::vector<std::pair<std::uint32_t, double>> through;
    for (double due; (due = wire.due()) != SharedWire::never;) through.emplace_back(wire.pop(due).message, due);
    return through;
}

using Times = std::vector<std::pair<std::uint32_t, double>>;

TEST(SharedWire, carries_one_message_at_the_full_rate) {
    SharedWire wire(1);
    EXPECT_EQ(wire.due(), SharedWire::never);
    EXPECT_TRUE(wire.enter(5, 0, 2, 7));
    EXPECT_EQ(rest_of(wire), (Times{{7, 7}}));
    EXPECT_TRUE(wire.enter(10, 0, 1, 8));  // the flow is free again
    EXPECT_EQ(rest_of(wire), (Times{{8, 11}}));
}

TEST(SharedWire, gives_every_flow_the_same) {
    SharedWire wire(1);
    wire.enter(0, 0, 1, 0);
    wire.enter(0, 1, 2, 1);
    wire.enter(0, 2, 3, 2);
    // A third each until 3, a half until 5, the whole until 6.
    EXPECT_EQ(rest_of(wire), (Times{{0, 3}, {1, 5}, {2, 6}}));
}

TEST(SharedWire, shares_from_the_moment_on_at_which_a_message_enters) {
    SharedWire wire(1);
    wire.enter(0, 0, 4, 0);
    EXPECT_EQ(wire.due(), 4);
    wire.enter(3, 1, 2, 1);  // one second is left of the first
    EXPECT_EQ(wire.due(), 5);
    EXPECT_EQ(rest_of(wire), (Times{{0, 5}, {1, 6}}));
}

TEST(SharedWire, sends_messages_of_a_flow_one_after_the_other) {
    SharedWire wire(1);
    EXPECT_TRUE(wire.enter(0, 0, 1, 0));
    EXPECT_FALSE(wire.enter(0, 0, 1, 1));
    EXPECT_TRUE(wire.enter(0, 1, 1, 2));
    EXPECT_FALSE(wire.enter(0, 0, 1, 3));
    EXPECT_EQ(wire.due(), 2);
    const SharedWire::Through first = wire.pop(2);
    EXPECT_EQ(first.message, 0);
    EXPECT_EQ(first.next, 1);
    EXPECT_EQ(rest_of(wire), (Times{{2, 2}, {1, 3}, {3, 4}}));
}

TEST(SharedWire, has_lanes_that_a_flow_takes_one_at_a_time) {
    SharedWire wire(2);
    wire.enter(0, 0, 1, 0);
    EXPECT_EQ(wire.due(), 1);  // not faster than a lane
    wire.enter(0, 1, 1, 1);
    EXPECT_EQ(wire.due(), 1);
    wire.enter(0, 2, 2, 2);
    wire.enter(0, 3, 2, 3);
    EXPECT_EQ(rest_of(wire), (Times{{0, 2}, {1, 2}, {2, 3}, {3, 3}}));
}

TEST(SharedWire, lets_empty_messages_through_at_once) {
    SharedWire wire(1);
    wire.enter(1, 0, 0, 0);
    wire.enter(1, 1, 1, 1);
    EXPECT_EQ(rest_of(wire), (Times{{0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace rondo::virtual_machine
