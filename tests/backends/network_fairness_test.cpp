// SPDX-License-Identifier: BSD-3-Clause
// Links that are shared each for itself, beside rates that are fair on all links of a message's way at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "tests/backends/network_calls.hpp"

namespace rondo::virtual_machine {
namespace {

/// When the last of these messages is there, if all start at once and rates are max-min fair at every moment
/// [bertsekas1992data]: whoever gets the least cannot get more. Each message has its links, among them the wires of
/// its nodes.
///
/// [bertsekas1992data] D. Bertsekas, R. Gallager, Data networks, Prentice Hall 1992, 6.5.2.
class MaxMin {
  public:
    using Ways = std::vector<std::vector<NetworkLink>>;

    /// `left`: what each message takes alone.
    static double last(const Ways& ways, std::vector<double> left) {
        double now = 0;
        while (std::ranges::any_of(left, [](double each) { return each > 0; })) {
            const std::vector<double> rates = rates_of(ways, left);
            double step = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < left.size(); ++i) {
                if (left[i] > 0) step = std::min(step, left[i] / rates[i]);
            }
            for (std::size_t i = 0; i < left.size(); ++i)
                left[i] = left[i] > step * rates[i] * (1 + 1e-9) ? left[i] - step * rates[i] : 0;
            now += step;
        }
        return now;
    }

  private:
    struct Shared {
        double free = 0;
        std::vector<std::size_t> open;  // messages whose rate is not known yet
    };

    static std::vector<double> rates_of(const Ways& ways, const std::vector<double>& left) {
        std::map<std::uint64_t, Shared> links;
        for (std::size_t i = 0; i < ways.size(); ++i) {
            for (const NetworkLink& link : ways[i]) {
                links[link.number].free = link.capacity;
                if (left[i] > 0) links[link.number].open.push_back(i);
            }
        }
        std::vector<double> rates(ways.size(), 0);
        const auto share = [](const auto& link) {
            return link.second.open.empty() ? std::numeric_limits<double>::infinity()
                                            : link.second.free / static_cast<double>(link.second.open.size());
        };
        for (;;) {
            const auto tightest = std::ranges::min_element(links, {}, share);
            const double rate = share(*tightest);
            if (rate == std::numeric_limits<double>::infinity()) return rates;
            for (const std::size_t i : std::vector(tightest->second.open)) {
                rates[i] = rate;
                for (const NetworkLink& link : ways[i]) {
                    links[link.number].free -= rate;
                    std::erase(links[link.number].open, i);
                }
            }
        }
    }
};

/// Every rank a message to the next one, one of four lengths.
Schedule sends_of_four_lengths(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank left = (r + p - 1) % p, right = (r + 1) % p;
    co_yield exchange(receive(call.output().part(0, bytes / 4 * (left % 4 + 1)), left),
                      send(call.input().part(0, bytes / 4 * (r % 4 + 1)), right));
}

TEST(NetworkFairness, is_near_to_max_min_fairness) {
    const NetworkShape shapes[] = {{FatTree{4, 2}}, {Dragonfly{4, 0.5}}, {Torus{{8, 4}}}, {Torus{{2, 4, 4}}}};
    constexpr Rank nodes = 32;
    std::mt19937 random(1);
    for (const NetworkShape& shape : shapes) {
        for (int i = 0; i < 20; ++i) {  // each node sends to another one, anywhere
            std::vector<Rank> places = in_a_row(nodes);
            std::shuffle(places.begin(), places.end(), random);
            MaxMin::Ways ways;
            std::vector<double> equal, different;
            for (std::size_t node = 0; node < places.size(); ++node) {
                const Rank from = places[node], to = places[(node + 1) % places.size()];
                const auto wire = [](Rank place, std::uint64_t direction) {
                    return NetworkLink{std::uint64_t{1} << 63 | static_cast<std::uint64_t>(place) << 1 | direction, 1};
                };
                auto& way = ways.emplace_back(std::vector{wire(from, 0), wire(to, 1)});
                shape.route(from, to, way);
                equal.push_back(beta * bytes);
                different.push_back(beta * bytes / 4 * static_cast<double>(node % 4 + 1));
            }
            const Network network(shape, places);
            EXPECT_NEAR(time_on(network, shifts<1>) - alpha, MaxMin::last(ways, equal), 1e-6);
            const double found = time_on(network, sends_of_four_lengths) - alpha, fair = MaxMin::last(ways, different);
            EXPECT_LE(found, fair * (1 + 1e-9));  // a link that is shared for itself wastes nothing
            EXPECT_LE(fair, 1.1 * found);
        }
    }
}

}  // namespace
}  // namespace rondo::virtual_machine
