// SPDX-License-Identifier: BSD-3-Clause
// What thinking costs: nanoseconds for generating a step, and for making a plan of it. A repeated call pays neither.
// And what it does pay: for each action of the plan, nanoseconds of keeping score. What the plan takes, in bytes per
// action. Last, what a rank waits for and keeps: the whole plan, in microseconds and KiB.
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
    double generate = 0, plan = 0;           // nanoseconds per step, medians
    double score = 0, bytes = 0;             // per action
    double microseconds = 0, kibibytes = 0;  // of the whole plan
};

/// A call of so many ranks, and the rank that makes it. Where nobody knows the lengths of all parts, or the root alone
/// does, all parts are equal, and it is the root.
class Subject {
  public:
    Subject(const Collective& collective, const AlgorithmInfo& algorithm, Rank ranks, Rank ranks_per_node)
        : placement_(Placement::regular(ranks / ranks_per_node, ranks_per_node)),
          facts_(collective.facts({.size = ranks,
                                   .count = Count{1} << 20,
                                   .element_bytes = 8,
                                   .op = {true},
                                   .placement = algorithm.uses_nodes ? &placement_ : nullptr})) {
        local_.rank = ranks / 2;
        if (!collective.has.local_lengths) return;
        constexpr Count part = 16;
        const bool is_own = facts_.input == Share::own;
        if (!is_own) local_.rank = facts_.root;
        for (const Buffer buffer : {Buffer::input, Buffer::output}) {
            const Share share = buffer == Buffer::input ? facts_.input : facts_.output;
            std::vector<Block>& parts = buffer == Buffer::input ? outgoing_ : incoming_;
            const Rank number = is_own || share == Share::whole_at_root ? ranks : 1;
            for (Rank rank = 0; rank < number; ++rank) parts.emplace_back(rank * part, part, buffer);
        }
        local_.outgoing = outgoing_;
        local_.incoming = incoming_;
    }
    Subject(const Subject&) = delete;  // facts borrow from it
    Subject& operator=(const Subject&) = delete;
    ~Subject() = default;

    [[nodiscard]] const SharedFacts& facts() const { return facts_; }
    [[nodiscard]] const LocalFacts& local() const { return local_; }

  private:
    Placement placement_;
    SharedFacts facts_;
    LocalFacts local_;
    std::vector<Block> outgoing_, incoming_;
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

Cost measure(const AlgorithmInfo& algorithm, const Subject& subject, std::span<const Setting> settings) {
    Cost cost;
    const double generate = median_nanoseconds([&] {
        const Call call(subject.facts(), subject.local(), settings);
        Schedule schedule = schedule_of(call, algorithm);
        cost.steps = 0;
        while (schedule.next() != nullptr) ++cost.steps;
    });
    const double plan = median_nanoseconds([&] {
        const Call call(subject.facts(), subject.local(), settings);
        (void)Plan::of(call, algorithm);
    });
    const Call call(subject.facts(), subject.local(), settings);
    const Plan made = Plan::of(call, algorithm);
    Scoreboard board;
    const double score = median_nanoseconds([&] { play(board, made); });
    cost.score = score / static_cast<double>(made.actions().size());
    cost.bytes = static_cast<double>(made.bytes()) / static_cast<double>(made.actions().size());
    cost.generate = generate / static_cast<double>(cost.steps);
    cost.plan = plan / static_cast<double>(cost.steps);
    cost.microseconds = plan / 1e3;
    cost.kibibytes = static_cast<double>(made.bytes()) / 1024;
    return cost;
}

void print(bool json, const std::string& name, Rank ranks, const Cost& cost) {
    if (json) {
        std::printf(
            "{\"algorithm\":\"%s\",\"processes\":%d,\"steps\":%zu,\"generate_ns\":%.2f,\"plan_ns\":%.2f,"
            "\"score_ns\":%.2f,\"bytes\":%.1f,\"plan_us\":%.1f,\"plan_kib\":%.1f}\n",
            name.c_str(), ranks, cost.steps, cost.generate, cost.plan, cost.score, cost.bytes, cost.microseconds,
            cost.kibibytes);
    } else {
        std::printf("%-32s %6d %8zu %14.1f %14.1f %15.1f %12.1f %8.0f %8.0f\n", name.c_str(), ranks, cost.steps,
                    cost.generate, cost.plan, cost.score, cost.bytes, cost.microseconds, cost.kibibytes);
    }
}

void measure_and_print(bool json, const Collective& collective, const AlgorithmInfo& algorithm) {
    const std::string name = std::string(algorithm.collective) + "/" + std::string(algorithm.name);
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == "segment") setting.value = 8 << 10;
    }
    const auto print_for = [&](const std::string& called, Rank ranks, Rank ranks_per_node) {
        const Subject subject(collective, algorithm, ranks, ranks_per_node);
        print(json, called, ranks, measure(algorithm, subject, settings));
    };
    print_for(name, 36, 4);
    print_for(name, 1152, 32);
    if (!collective.has.all_to_all()) return;
    print_for(name, 4096, 64);  // plans of every message
    for (Setting& setting : settings) {
        if (setting.name != "overlap") continue;
        setting.value = 1;
        print_for(name + ":overlap=1", 4096, 64);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    if (!json) {
        std::printf("%-32s %6s %8s %14s %14s %15s %12s %8s %8s\n", "algorithm", "p", "steps", "generate ns/st",
                    "plan ns/step", "score ns/action", "bytes/action", "plan us", "plan KiB");
    }
    for (const Collective& collective : collectives()) {
        for (const AlgorithmInfo* algorithm : collective.algorithms) measure_and_print(json, collective, *algorithm);
    }
    return 0;
}
