// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/shared_wires.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rondo::virtual_machine {
namespace {

/// Empties the wire: messages with the times at which they are through, in this order.
std::vector<std::pair<std::uint32_t, double>> rest_of(SharedWire& wire) {
    std::vector<std::pair<std::uint32_t, double>> through;
    for (double due; (due = wire.due()) != SharedWire::never;) through.emplace_back(wire.pop(due).number, due);
    return through;
}

using Times = std::vector<std::pair<std::uint32_t, double>>;

TEST(SharedWire, carries_one_message_at_the_full_rate) {
    SharedWire wire(1);
    EXPECT_EQ(wire.due(), SharedWire::never);
    wire.start(5, 2, {0, 7});
    EXPECT_EQ(rest_of(wire), (Times{{7, 7}}));
    wire.start(10, 1, {0, 8});
    EXPECT_EQ(rest_of(wire), (Times{{8, 11}}));
}

TEST(SharedWire, gives_every_message_the_same) {
    SharedWire wire(1);
    wire.start(0, 1, {0, 0});
    wire.start(0, 2, {1, 1});
    wire.start(0, 3, {2, 2});
    // A third each until 3, a half until 5, the whole until 6.
    EXPECT_EQ(rest_of(wire), (Times{{0, 3}, {1, 5}, {2, 6}}));
}

TEST(SharedWire, shares_from_the_moment_on_at_which_a_message_starts) {
    SharedWire wire(1);
    wire.start(0, 4, {0, 0});
    EXPECT_EQ(wire.due(), 4);
    wire.start(3, 2, {1, 1});  // one second is left of the first
    EXPECT_EQ(wire.due(), 5);
    EXPECT_EQ(rest_of(wire), (Times{{0, 5}, {1, 6}}));
}

TEST(Flow, lets_messages_through_one_after_the_other) {
    std::vector<std::uint32_t> behind(4, Flow::none);
    const auto next = [&](std::uint32_t message) -> std::uint32_t& { return behind[message]; };
    Flow flow;
    EXPECT_TRUE(flow.enter(2, next));
    EXPECT_FALSE(flow.enter(0, next));
    EXPECT_FALSE(flow.enter(3, next));
    EXPECT_EQ(flow.leave(2, next), 0);
    EXPECT_EQ(flow.leave(0, next), 3);
    EXPECT_FALSE(flow.enter(1, next));
    EXPECT_EQ(flow.leave(3, next), 1);
    EXPECT_EQ(flow.leave(1, next), Flow::none);
    EXPECT_TRUE(flow.enter(2, next));  // it is free again
}

TEST(SharedWire, has_lanes_of_which_a_message_takes_one) {
    SharedWire wire(2);
    wire.start(0, 1, {0, 0});
    EXPECT_EQ(wire.due(), 1);  // not faster than a lane
    wire.start(0, 1, {1, 1});
    EXPECT_EQ(wire.due(), 1);
    wire.start(0, 2, {2, 2});
    wire.start(0, 2, {3, 3});
    EXPECT_EQ(rest_of(wire), (Times{{0, 2}, {1, 2}, {2, 3}, {3, 3}}));
}

TEST(SharedWire, lets_empty_messages_through_at_once) {
    SharedWire wire(1);
    wire.start(1, 0, {0, 0});
    wire.start(1, 1, {1, 1});
    EXPECT_EQ(rest_of(wire), (Times{{0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace rondo::virtual_machine
