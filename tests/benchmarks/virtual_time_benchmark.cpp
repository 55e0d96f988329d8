// SPDX-License-Identifier: BSD-3-Clause
// How many messages a second virtual time runs on one core, of real schedules, and what their plans take: millions of
// messages a second of the processor's time, and nanoseconds for each message.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/prediction.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"

namespace {

using namespace rondo;
using namespace rondo::virtual_machine;

// A network of 100 Gbit/s.
constexpr CostModel costs = {.alpha = 2e-6,
                             .beta = 8e-11,
                             .gamma = 4e-11,
                             .overhead = 5e-7,
                             .inside = LinkCosts{.alpha = 5e-7, .beta = 1e-11, .overhead = 1e-7},
                             .eager = 16 << 10,
                             .rendezvous = 4e-6};

struct Pattern {
    const char* collective;
    const char* algorithm;
    Rank nodes, per_node;
    Count bytes;
};

constexpr Pattern patterns[] = {
    {"bcast", "binomial", 1024, 1, 8},
    {"bcast", "binomial", 1 << 20, 1, 8},
    {"allreduce", "recursive_doubling", 1024, 1, 8},
    {"allreduce", "recursive_doubling", 65536, 1, 8},
    {"allreduce", "halving_doubling", 16, 64, 1 << 20},
    {"allreduce", "two_tree", 16, 64, 1 << 20},
    {"allreduce", "ring", 16, 64, 1 << 20},
    {"alltoall", "pairwise", 512, 1, Count{8} * 512},
};

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void measure(const Pattern& pattern, bool json) {
    const Collective& collective = *find_collective(pattern.collective);
    const AlgorithmInfo& algorithm = *collective.algorithm(pattern.algorithm);
    const Placement placement = Placement::regular(pattern.nodes, pattern.per_node);
    const SharedFacts facts = collective.facts({.size = placement.size(),
                                                .count = pattern.bytes / 8,
                                                .element_bytes = 8,
                                                .op = {true},
                                                .placement = &placement});
    const auto settings = closed_settings(algorithm, facts, algorithm.open_settings(), costs);
    double start = processor_seconds();
    auto timing = Timing::of({algorithm, facts, settings}, {}, Count{1} << 24);
    if (!timing) return;
    const double planning = processor_seconds() - start;
    double running[2];
    for (const bool fluid : {false, true}) {
        CostModel model = costs;
        model.fluid = fluid;
        start = processor_seconds();
        (void)timing->time(model, facts.element_bytes);
        running[fluid ? 1 : 0] = processor_seconds() - start;
    }
    const auto messages = static_cast<double>(timing->messages());
    const std::string name = std::string(pattern.collective) + "/" + pattern.algorithm;
    std::printf(json ? "{\"algorithm\":\"%s\",\"nodes\":%d,\"per_node\":%d,\"bytes\":%lld,\"messages\":%.0f,"
                       "\"planning_ns\":%.1f,\"one_at_a_time\":%.3f,\"fluid\":%.3f}\n"
                     : "%-32s%8d x %-3d%9lld%10.0f%10.0f%10.2f%10.2f\n",
                name.c_str(), pattern.nodes, pattern.per_node, static_cast<long long>(pattern.bytes), messages,
                planning / messages * 1e9, messages / running[0] * 1e-6, messages / running[1] * 1e-6);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const bool json = argument_count > 1 && std::strcmp(arguments[1], "--json") == 0;
    if (!json) {
        std::printf("%-32s%14s%9s%10s%10s%10s%10s\n", "virtual time", "nodes", "bytes", "messages", "plan, ns", "M/s",
                    "fluid");
    }
    for (const Pattern& pattern : patterns) measure(pattern, json);
    return 0;
}
