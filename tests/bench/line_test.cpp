// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark driver concludes from a ping-pong.
#include "apps/bench/line.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <vector>

namespace rondo::bench {
namespace {

/// As the driver measures them, until a message takes too long.
std::vector<double> lengths(std::size_t many) {
    std::vector<double> found;
    for (double bytes = 1; found.size() < many; bytes *= 4) found.push_back(bytes);
    return found;
}

std::vector<double> times(const std::vector<double>& sizes, const Line& network, double eager) {
    std::vector<double> found;
    found.reserve(sizes.size());
    for (const double bytes : sizes) {
        found.push_back(network.latency + bytes * network.seconds_per_byte + (bytes > eager ? network.rendezvous : 0));
    }
    return found;
}

TEST(Line, finds_the_handshake_however_many_lengths_are_beyond) {
    const Line network{.latency = 80e-3, .seconds_per_byte = 3.2e-6, .rendezvous = 160e-3, .residual = 0};
    const std::vector<double> sizes = lengths(10);
    for (std::size_t beyond = 1; beyond <= 4; ++beyond) {
        const double eager = sizes[sizes.size() - 1 - beyond];
        const Line found = best_fit(sizes, times(sizes, network, eager));
        EXPECT_NEAR(found.latency, network.latency, 1e-6) << beyond;
        EXPECT_NEAR(found.seconds_per_byte, network.seconds_per_byte, 1e-11) << beyond;
        EXPECT_NEAR(found.rendezvous, network.rendezvous, 1e-5) << beyond;
        EXPECT_TRUE(is_good(found));
    }
}

TEST(Line, is_one_where_nobody_asks_first) {
    const Line network{.latency = 2e-3, .seconds_per_byte = 80e-9, .rendezvous = 0, .residual = 0};
    const std::vector<double> sizes = lengths(11);
    const Line found = best_fit(sizes, times(sizes, network, 0));
    EXPECT_NEAR(found.seconds_per_byte, network.seconds_per_byte, 1e-13);
    EXPECT_EQ(found.rendezvous, 0);
}

TEST(Line, has_no_step_downwards) {
    const Line network{.latency = 2e-3, .seconds_per_byte = 80e-9, .rendezvous = 0, .residual = 0};
    const std::vector<double> sizes = lengths(11);
    std::vector<double> measured = times(sizes, network, 0);
    measured.back() /= 2;  // what no network does
    const Line found = best_fit(sizes, measured);
    EXPECT_GE(found.rendezvous, 0);
    EXPECT_FALSE(is_good(found));
}

}  // namespace
}  // namespace rondo::bench
