// SPDX-License-Identifier: BSD-3-Clause
// What a rank pays to know its part in a collective: the colours of two trees, and the schedule of a circulant graph.
// Beside them the time that [sanders2009two], table 1, gives for the schedule of a circulant broadcast of its day,
// which was computed for all ranks at once on a 2.1 GHz Athlon; and its bound for the colours, 1.5 us.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "rondo/topology/circulant.hpp"
#include "rondo/topology/two_tree.hpp"

namespace {

using namespace rondo;
using namespace rondo::topology;
using Clock = std::chrono::steady_clock;

volatile std::int64_t sink = 0;

/// Microseconds per rank: the median over batches of ranks that are spread over all.
template <class Work>
double microseconds(Rank size, Work&& work) {
    constexpr Rank batch = 50, batches = 41;
    std::vector<double> times;
    for (Rank i = 0; i < batches; ++i) {
        const auto start = Clock::now();
        for (Rank j = 0; j < batch; ++j) {
            const std::int64_t rank = (std::int64_t{i} * batch + j) * 7919 % size;
            sink = sink + work(static_cast<Rank>(rank));
        }
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / batch);
    }
    std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
    return times[batches / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    const struct {
        Rank size;
        double table_1;  // microseconds
    } rows[] = {{100, 99.15}, {1000, 1399.43}, {10000, 20042.28}, {100000, 48803.58}};
    if (!json) std::printf("%8s %18s %18s %24s\n", "p", "two trees us", "circulant us", "circulant, table 1 us");
    for (const auto& [size, table_1] : rows) {
        const double trees = microseconds(size, [p = size](Rank rank) {
            const TwoTrees both(p);
            return both.to_parent(0, rank).start + both.to_parent(1, rank).start + both.to_children(rank)[0].start;
        });
        const double circulant = microseconds(size, [p = size](Rank rank) {
            const CirculantSkips skips(p);
            return CirculantSchedule(rank, skips).sends(0);
        });
        if (json) {
            std::printf("{\"processes\":%d,\"two_trees_us\":%.3f,\"circulant_us\":%.3f,\"table_1_us\":%.2f}\n", size,
                        trees, circulant, table_1);
        } else {
            std::printf("%8d %18.3f %18.3f %24.2f\n", size, trees, circulant, table_1);
        }
    }
    return 0;
}
