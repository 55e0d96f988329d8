// SPDX-License-Identifier: BSD-3-Clause
// What thinking costs: nanoseconds for generating a step, and for making a plan of it. A repeated call pays neither.
// And what it does pay: for each action of the plan, nanoseconds of keeping score. What the plan takes, in bytes per
// action.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/core/plan.hpp"
#include "rondo/core/scoreboard.hpp"

namespace {

using namespace rondo;
using Clock = std::chrono::steady_clock;

struct Cost {
    std::size_t steps = 0;
    double generate = 0, plan = 0;  // nanoseconds per step, medians
    double score = 0, bytes = 0;    // per action
};

template <class Work>
double median_nanoseconds(Work&& work) {
    std::vector<double> times;
    for (int repetition = 0; repetition < 101; ++repetition) {
        const auto start = Clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + 50, times.end());
    return times[50];
}

/// Everything completes in the order in which it was started.
void play(Scoreboard& board, const Plan& plan) {
    static std::vector<std::uint32_t> under_way;
    under_way.clear();
    std::size_t first = 0;
    board.start(plan, 8);
    while (!board.done()) {
        for (std::uint32_t index; (index = board.next()) != Action::none;) under_way.push_back(index);
        board.complete(under_way[first++]);
    }
}

Cost measure(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings) {
    Cost cost;
    const Rank rank = facts.size / 2;
    const double generate = median_nanoseconds([&] {
        const Call call(facts, {.rank = rank}, settings);
        Schedule schedule = schedule_of(call, algorithm);
        cost.steps = 0;
        while (schedule.next() != nullptr) ++cost.steps;
    });
    const double plan = median_nanoseconds([&] {
        const Call call(facts, {.rank = rank}, settings);
        (void)Plan::of(call, algorithm);
    });
    const Call call(facts, {.rank = rank}, settings);
    const Plan made = Plan::of(call, algorithm);
    Scoreboard board;
    const double score = median_nanoseconds([&] { play(board, made); });
    cost.score = score / static_cast<double>(made.actions().size());
    cost.bytes = static_cast<double>(made.bytes()) / static_cast<double>(made.actions().size());
    cost.generate = generate / static_cast<double>(cost.steps);
    cost.plan = plan / static_cast<double>(cost.steps);
    return cost;
}

void print(bool json, const AlgorithmInfo& algorithm, const SharedFacts& facts, const Cost& cost) {
    const std::string name = std::string(algorithm.collective) + "/" + std::string(algorithm.name);
    if (json) {
        std::printf(
            "{\"algorithm\":\"%s\",\"processes\":%d,\"steps\":%zu,\"generate_ns\":%.2f,\"plan_ns\":%.2f,"
            "\"score_ns\":%.2f,\"bytes\":%.1f}\n",
            name.c_str(), facts.size, cost.steps, cost.generate, cost.plan, cost.score, cost.bytes);
    } else {
        std::printf("%-32s %6d %8zu %14.1f %14.1f %15.1f %12.1f\n", name.c_str(), facts.size, cost.steps, cost.generate,
                    cost.plan, cost.score, cost.bytes);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    if (!json) {
        std::printf("%-32s %6s %8s %14s %14s %15s %12s\n", "algorithm", "p", "steps", "generate ns/st", "plan ns/step",
                    "score ns/action", "bytes/action");
    }
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* algorithm : collective.algorithms) {
            std::vector<Setting> settings = algorithm->standard_settings();
            for (Setting& setting : settings) {
                if (setting.name == "segment") setting.value = 8 << 10;
            }
            for (const Rank processes : {36, 1152}) {
                const SharedFacts facts =
                    collective.facts({.size = processes, .count = 1 << 20, .element_bytes = 8, .op = {true}});
                print(json, *algorithm, facts, measure(*algorithm, facts, settings));
            }
        }
    }
    return 0;
}
