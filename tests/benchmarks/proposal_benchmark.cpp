// SPDX-License-Identifier: BSD-3-Clause
// What the model's proposals lose and cost. Of all algorithms of a collective, each predicted as `rondo predict` does,
// how much longer than the fastest does the proposed one take? And what does a proposal take of the processor's time?
// A table with a line for each shape; with --cells also each call whose proposal loses more than a fifth.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/prediction.hpp"
#include "rondo/selection/closing.hpp"
#include "rondo/selection/proposal.hpp"

namespace {

using namespace rondo;
using namespace rondo::virtual_machine;

struct Shape {
    Rank nodes, on_node;
};
constexpr Shape shapes[] = {{8, 1},  {36, 1}, {100, 1}, {1024, 1}, {4, 4},
                            {4, 16}, {4, 32}, {16, 8},  {16, 64},  {64, 16}};
constexpr Count lengths[] = {8, 2 << 10, 32 << 10, 1 << 20, 16 << 20};
constexpr PredictionLimits limits = {.whole = 1 << 18, .messages = 1 << 20};

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::optional<double> predicted(const Choice& choice, const SharedFacts& facts, const Machine& machine) {
    if (choice.algorithm->refusal(facts, choice.settings)) return std::nullopt;
    const auto settings = settings_for(choice, facts, machine);
    auto predictor = Predictor::of(Problem{*choice.algorithm, facts, settings}, limits);
    if (!predictor) return std::nullopt;
    CostModel costs = machine.costs();
    costs.fluid = true;
    return predictor->predict(costs).seconds;
}

class Line {
  public:
    Line(const char* network, Shape shape, bool cells) : network_(network), shape_(shape), cells_(cells) {}

    void add(const Collective& collective, Count bytes, const Machine& machine) {
        const Placement placement = Placement::regular(shape_.nodes, shape_.on_node);
        const SharedFacts facts = collective.facts(
            {.size = placement.size(), .count = bytes / 8, .element_bytes = 8, .op = {true}, .placement = &placement});
        const double start = processor_seconds();
        const auto proposal = proposed(collective, facts, machine);
        const double cost = processor_seconds() - start;
        costs_.push_back(cost);
        const auto seconds = proposal ? predicted(proposal->choice, facts, machine) : std::nullopt;
        if (!seconds || *seconds <= 0) return;
        double least = *seconds;
        std::string fastest = to_string(proposal->choice);
        for (const AlgorithmInfo* algorithm : collective.algorithms) {
            const Choice choice{algorithm, algorithm->open_settings()};
            const auto other = predicted(choice, facts, machine);
            if (!other || *other >= least) continue;
            least = *other;
            fastest = to_string(choice);
        }
        const double loss = *seconds / least - 1;
        losses_.push_back(loss);
        if (!cells_ || loss < 0.2) return;
        std::printf("  %s %lld B: %s, about %.4g s, takes %.4g s; %s %.4g s\n", std::string(collective.name).c_str(),
                    static_cast<long long>(bytes), to_string(proposal->choice).c_str(), proposal->seconds, *seconds,
                    fastest.c_str(), least);
    }

    void print() const {
        const auto mean = [](const std::vector<double>& values) {
            double sum = 0;
            for (const double each : values) sum += each;
            return sum / static_cast<double>(std::max<std::size_t>(1, values.size()));
        };
        std::printf("%-6s%5d x %-4d%6zu%8.1f%%%7.0f%%%10.1f%8.1f\n", network_, shape_.nodes, shape_.on_node,
                    losses_.size(), 100 * mean(losses_), 100 * *std::ranges::max_element(losses_), 1e3 * mean(costs_),
                    1e3 * *std::ranges::max_element(costs_));
        std::fflush(stdout);
    }

  private:
    const char* network_;
    Shape shape_;
    bool cells_;
    std::vector<double> losses_, costs_;
};

}  // namespace

int main(int argc, char** argv) {
    const bool cells = argc > 1 && std::strcmp(argv[1], "--cells") == 0;
    const Machine fast = Machine::parse("alpha = 2e-6\nbeta = 8e-11\neager = 16Ki\n", "fast");
    const Machine slow = Machine::parse(
        "alpha = 2e-3\nbeta = 8e-8\noverhead = 4e-5\nalpha_inside = 2e-6\noverhead_inside = 1e-6\neager = 64Ki\n",
        "slow");
    std::printf("%-6s%12s%6s%9s%8s%10s%8s\n", "", "nodes", "calls", "loss", "worst", "ms", "most");
    for (const auto& [name, machine] : {std::pair("fast", &fast), std::pair("slow", &slow)}) {
        for (const Shape& shape : shapes) {
            Line line(name, shape, cells);
            for (const Collective& collective : collectives()) {
                if (collective.has.local_lengths) continue;
                for (const Count bytes : lengths) {
                    if (collective.has.data || bytes == lengths[0]) line.add(collective, bytes, *machine);
                }
            }
            line.print();
        }
    }
}
