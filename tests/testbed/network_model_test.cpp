// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/network_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

namespace rondo::testbed {
namespace {

using testing::ElementsAre;

constexpr Nanoseconds us = 1000, latency = 2000 * us;
constexpr std::uint64_t rate = 200'000'000;  // bit/s: 40 ns a byte
constexpr Nanoseconds of_byte = 40;
constexpr unsigned nodes = 8, head = nodes;
constexpr std::uint32_t long_packet = 62720;
constexpr Nanoseconds end_of_time = 1'000'000'000'000;

class Network : public testing::Test {
  protected:
    explicit Network(unsigned lanes = 1, const std::optional<virtual_machine::NetworkShape>& shape = {})
        : model(nodes, lanes, shape) {
        model.set(latency, rate);
    }

    void send(unsigned from, unsigned to, std::uint64_t flow, std::uint32_t bytes, std::uint32_t name,
              Nanoseconds time = 0) {
        run_until(time);
        model.send({.from = from, .to = to, .flow = flow, .bytes = bytes, .name = name}, time);
    }

    /// Runs as the switch does, waking only when the model asks for it. Checks that the model asks in time.
    void run_until(Nanoseconds end) {
        for (auto next = model.next(); next && *next <= end; next = model.next()) {
            while (const auto delivery = model.deliver(*next)) {
                EXPECT_EQ(delivery->time, *next) << "packet " << delivery->packet << " is noticed late";
                arrived[delivery->packet] = delivery->time;
                order.push_back(delivery->packet);
            }
        }
    }

    std::map<std::uint32_t, Nanoseconds> run() {
        run_until(end_of_time);
        EXPECT_FALSE(model.deliver(end_of_time)) << "the model forgot to ask";
        return arrived;
    }

    /// Time that this many bytes occupy a lane.
    static Nanoseconds busy(std::uint64_t bytes) { return static_cast<Nanoseconds>(bytes) * of_byte; }

    static void expect_near(Nanoseconds time, Nanoseconds expected, Nanoseconds tolerance) {
        EXPECT_LE(std::abs(time - expected), tolerance) << time << " instead of " << expected;
    }

    /// What one frame of others may delay.
    [[nodiscard]] Nanoseconds frame() const { return busy(model.frame_bytes()); }

    NetworkModel model;
    std::map<std::uint32_t, Nanoseconds> arrived;
    std::vector<std::uint32_t> order;  // of arrival
};

class TwoLanes : public Network {
  protected:
    TwoLanes() : Network(2) {}
};

/// Two leaf switches, whose links carry one node of four.
class TaperedTree : public Network {
  protected:
    TaperedTree() : Network(1, virtual_machine::NetworkShape{.kind = virtual_machine::FatTree{4, 4}}) {}
};

/// Two leaf switches, whose links carry half a node.
class NarrowTree : public Network {
  protected:
    NarrowTree() : Network(1, virtual_machine::NetworkShape{.kind = virtual_machine::FatTree{4, 8}}) {}
};

/// A ring, and each step on it takes a quarter of the latency in addition.
class Ring : public Network {
  protected:
    Ring() : Network(1, virtual_machine::NetworkShape{.kind = virtual_machine::Torus{{8}, 1}, .hop = 0.5e-3}) {}
};

TEST_F(Network, carries_an_idle_packet_in_alpha_plus_n_beta) {
    send(0, 1, 1, long_packet, 0, 5 * us);
    send(2, 3, 2, 8, 1, 5 * us);
    run();
    expect_near(arrived.at(0), 5 * us + latency + busy(long_packet), 20);  // a nanosecond a frame is rounding
    EXPECT_EQ(arrived.at(1), 5 * us + latency + busy(8));
}

TEST_F(Network, serves_an_egress_at_its_rate) {
    for (std::uint32_t i = 0; i < 6; ++i) send(0, 1 + i, i, long_packet, i);
    run();
    Nanoseconds last = 0;
    for (const auto& [packet, time] : arrived) last = std::max(last, time);
    expect_near(last, latency + busy(6ULL * long_packet), 200);
}

TEST_F(Network, serves_an_ingress_at_its_rate) {
    for (std::uint32_t i = 0; i < 7; ++i) send(1 + i, 0, i, long_packet, i);
    run();
    Nanoseconds last = 0;
    for (const auto& [packet, time] : arrived) {
        last = std::max(last, time);
        EXPECT_GT(time, latency + busy(6ULL * long_packet));  // shared fairly, all end about together
    }
    expect_near(last, latency + busy(7ULL * long_packet), 200);
}

TEST_F(Network, is_full_duplex) {
    send(0, 1, 1, long_packet, 0);
    send(1, 0, 2, long_packet, 1);
    for (const auto& [packet, time] : run()) expect_near(time, latency + busy(long_packet), 20);
}

TEST_F(Network, lets_a_small_message_of_another_flow_pass_a_backlog) {
    for (std::uint32_t i = 0; i < 50; ++i) send(0, 1, 1, long_packet, i);
    send(0, 2, 2, 100, 100, 10 * us);  // the same egress
    send(3, 1, 3, 100, 101, 10 * us);  // the same ingress
    run();
    EXPECT_LE(arrived.at(100), 10 * us + latency + frame() + busy(100));
    EXPECT_LE(arrived.at(101), 10 * us + latency + frame() + busy(100));
}

TEST_F(Network, gives_flows_equal_shares) {
    for (std::uint32_t i = 0; i < 20; ++i) send(0, 1, 1, long_packet, i);
    for (std::uint32_t i = 0; i < 10; ++i) send(0, 2, 2, long_packet, 100 + i);
    run();
    // While both send, each has half; then the first has all.
    expect_near(arrived.at(109), latency + busy(20ULL * long_packet), frame() + 1000);
    expect_near(arrived.at(9), latency + busy(20ULL * long_packet), frame() + 1000);
    expect_near(arrived.at(19), latency + busy(30ULL * long_packet), 1000);
}

TEST_F(Network, keeps_the_order_within_a_flow_also_of_packets_without_data) {
    send(0, 1, 1, long_packet, 0);
    send(0, 1, 1, 10, 1);
    send(0, 1, 1, 0, 2);  // the end of the connection
    send(0, 1, 1, long_packet, 3);
    send(4, 1, 9, long_packet, 4);
    run();
    std::erase(order, 4U);
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST_F(Network, lets_acknowledgements_cost_the_latency_only) {
    for (std::uint32_t i = 0; i < 20; ++i) send(0, 1, 1, long_packet, i);
    model.send({.from = 0, .to = 1, .flow = 2, .bytes = 0, .is_acknowledgement = true, .name = 50}, 7 * us);
    EXPECT_EQ(run().at(50), 7 * us + latency);
}

TEST_F(Network, does_not_delay_the_head) {
    send(head, 1, 1, long_packet, 0, 3 * us);
    send(1, head, 2, long_packet, 1, 4 * us);
    run();
    EXPECT_EQ(arrived.at(0), 3 * us);
    EXPECT_EQ(arrived.at(1), 4 * us);
}

TEST_F(Network, obeys_a_new_latency_without_overtaking) {
    send(0, 1, 1, 100, 0, 0);
    model.set(latency / 4, rate);
    send(0, 1, 1, 100, 1, 10 * us);
    model.set(3 * latency, rate);
    send(2, 3, 2, 100, 2, 20 * us);
    run();
    EXPECT_EQ(arrived.at(0), latency + busy(100));
    EXPECT_GE(arrived.at(1), arrived.at(0));
    EXPECT_EQ(arrived.at(2), 20 * us + 3 * latency + busy(100));
    EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(Network, obeys_a_new_rate) {
    model.set(latency, rate / 2);
    send(0, 1, 1, long_packet, 0);
    expect_near(run().at(0), latency + 2 * busy(long_packet), 40);
}

TEST_F(Network, works_without_latency) {
    model.set(0, rate);
    send(0, 1, 1, long_packet, 0);
    EXPECT_EQ(run().at(0), busy(long_packet));
}

TEST_F(Network, counts_packets_of_the_past_as_of_now) {
    send(0, 1, 1, 100, 0, 50 * us);
    EXPECT_FALSE(model.deliver(60 * us));
    send(2, 3, 2, 100, 1, 10 * us);
    EXPECT_EQ(run().at(1), 60 * us + latency + busy(100));
}

TEST_F(TwoLanes, carry_two_flows_at_full_rate_each) {
    send(0, 1, 1, long_packet, 0);
    send(0, 2, 2, long_packet, 1);
    for (const auto& [packet, time] : run()) expect_near(time, latency + busy(long_packet), 20);
}

TEST_F(TwoLanes, carry_one_flow_at_the_rate_of_one) {
    send(0, 1, 1, long_packet, 0);
    send(0, 1, 1, long_packet, 1);
    expect_near(run().at(1), latency + busy(2ULL * long_packet), 100);
}

TEST_F(TwoLanes, are_shared_by_three_flows) {
    for (std::uint32_t i = 0; i < 3; ++i) send(0, 1 + i, i, long_packet, i);
    for (const auto& [packet, time] : run()) expect_near(time, latency + busy(3ULL * long_packet) / 2, 3 * frame());
}

// Random traffic: nothing is lost, nothing is late, every flow in order, and no port above its rate.
TEST_F(TwoLanes, keep_their_promises_under_random_traffic) {
    std::uint64_t state = 1;
    const auto random = [&state](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>((state >> 33U) % below);
    };
    std::map<std::uint32_t, std::uint64_t> flow_of;
    Nanoseconds time = 0;
    for (std::uint32_t name = 0; name < 2000; ++name) {
        time += random(300) * us;
        const unsigned from = random(nodes), to = (from + 1 + random(nodes - 1)) % nodes;
        flow_of[name] = from * nodes + to;
        send(from, to, flow_of[name], random(3) == 0 ? random(long_packet) : random(200), name, time);
    }
    ASSERT_EQ(run().size(), 2000U);
    std::map<std::uint64_t, std::uint32_t> last;
    for (const std::uint32_t name : order) {
        const auto [position, is_first] = last.try_emplace(flow_of[name], name);
        EXPECT_TRUE(is_first || position->second < name);
        position->second = name;
    }
}

TEST_F(TaperedTree, shares_a_link_between_nodes) {
    for (unsigned node = 0; node < 4; ++node) send(node, node + 4, node, long_packet, node);
    run();
    Nanoseconds last = 0;
    for (const auto& [packet, time] : arrived) last = std::max(last, time);
    expect_near(last, latency + busy(4ULL * long_packet), 200);
    for (const auto& [packet, time] : arrived) EXPECT_GT(time, latency + busy(3ULL * long_packet)) << packet;
}

TEST_F(TaperedTree, leaves_messages_inside_a_group_alone) {
    for (unsigned node = 0; node < 3; ++node) send(node, 4 + node, node, long_packet, node);
    send(3, 0, 9, long_packet, 3);
    EXPECT_LE(run().at(3), latency + busy(long_packet) + 20);
}

TEST_F(TaperedTree, carries_an_idle_packet_as_if_there_were_no_link) {
    send(0, 7, 1, long_packet, 0, 5 * us);
    send(4, 3, 2, 8, 1, 5 * us);  // the other direction
    run();
    expect_near(arrived.at(0), 5 * us + latency + busy(long_packet), 40);
    EXPECT_EQ(arrived.at(1), 5 * us + latency + busy(8));
}

TEST_F(TaperedTree, lets_a_small_message_pass_a_backlog_in_a_link) {
    for (std::uint32_t i = 0; i < 20; ++i) {
        for (unsigned node = 0; node < 3; ++node) send(node, node + 4, node, long_packet, 100 * node + i);
    }
    send(3, 7, 9, 100, 1000, 5000 * us);
    run();
    EXPECT_LE(arrived.at(1000), 5000 * us + latency + 4 * frame() + busy(100));
}

TEST_F(NarrowTree, takes_the_time_of_the_slowest_link_once) {
    send(0, 7, 1, long_packet, 0);
    run();
    expect_near(arrived.at(0), latency + 2 * busy(long_packet), busy(long_packet) / 100);
}

TEST_F(NarrowTree, keeps_the_order_within_a_flow) {
    for (std::uint32_t i = 0; i < 10; ++i) send(0, 7, 1, i % 2 == 0 ? long_packet : 0, i);
    run();
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(Ring, adds_what_each_link_takes) {
    send(0, 2, 1, 1000, 0);
    send(3, 2, 2, 1000, 1, 10'000 * us);
    model.send({.from = 5, .to = 6, .flow = 3, .bytes = 0, .is_acknowledgement = true, .name = 2}, 20'000 * us);
    run();
    EXPECT_EQ(arrived.at(0), latency + 1000 * us + busy(1000));
    EXPECT_EQ(arrived.at(1), 10'000 * us + latency + 500 * us + busy(1000));
    EXPECT_EQ(arrived.at(2), 20'000 * us + latency + 500 * us);
}

TEST_F(Ring, carries_a_shift_of_three_in_three_times_the_time) {
    for (unsigned node = 0; node < nodes; ++node) send(node, (node + 3) % nodes, node, long_packet, node);
    run();
    Nanoseconds last = 0;
    for (const auto& [packet, time] : arrived) last = std::max(last, time);
    expect_near(last, latency + 1500 * us + busy(3ULL * long_packet), busy(long_packet) / 4);
}

}  // namespace
}  // namespace rondo::testbed
