// SPDX-License-Identifier: BSD-3-Clause
// What the choice of a segment costs a program, once for each kind of call: milliseconds, medians.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/pipeline.hpp"

namespace {

using namespace rondo;
using namespace rondo::virtual_machine;
using Clock = std::chrono::steady_clock;

// A network of 100 Gbit/s.
constexpr CostModel costs = {.alpha = 2e-6, .beta = 8e-11, .gamma = 4e-11, .overhead = 5e-7};
constexpr int repetitions = 15;
constexpr Count vector_bytes = Count{4} << 20;

double milliseconds(const AlgorithmInfo& algorithm, Rank size) {
    const Collective* collective = find_collective(algorithm.collective);
    const SharedFacts facts =
        collective->facts({.size = size, .count = vector_bytes / 8, .element_bytes = 8, .op = {true}});
    const std::vector<Setting> settings = algorithm.open_settings();
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
        const auto start = Clock::now();
        (void)best_segment(algorithm, facts, settings, costs);
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    return times[repetitions / 2];
}

}  // namespace

int main(int argument_count, char** arguments) {
    const bool json = argument_count > 1 && std::strcmp(arguments[1], "--json") == 0;
    constexpr Rank sizes[] = {4, 8, 16, 36, 1000};
    if (!json) std::printf("choice of a segment for 4 MiB, ms%*d%8d%8d%8d%8d ranks\n", 8, 4, 8, 16, 36, 1000);
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* algorithm : collective.algorithms) {
            if (algorithm->parameter(segment_parameter.name) == nullptr) continue;
            const std::string name = std::string(collective.name) + "/" + std::string(algorithm->name);
            if (!json) std::printf("%-32s", name.c_str());
            for (const Rank size : sizes) {
                const double time = milliseconds(*algorithm, size);
                if (json) {
                    std::printf("{\"algorithm\":\"%s\",\"processes\":%d,\"milliseconds\":%.3f}\n", name.c_str(), size,
                                time);
                } else {
                    std::printf("%8.2f", time);
                }
            }
            if (!json) std::printf("\n");
        }
    }
    return 0;
}
