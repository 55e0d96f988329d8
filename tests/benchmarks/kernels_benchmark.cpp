// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of the reduction kernels beside STREAM's add and memcpy, in L2 and in memory.
//
//   kernels_benchmark [--json] [--level baseline|avx2|avx512] [--l2-kib N] [--memory-mib N] [--repetitions N]
//
// Sizes are bytes per operand. GB/s counts what the program asks for: two operands read and one written (memcpy: one
// and one). Repetitions are interleaved: every kernel is timed right after the add, and the ratio is the median
// of the ratios of such neighbours, so that drift of a shared machine cancels. In L2 there are 5 N repetitions, short
// enough to fit between two turns of the scheduler. The add is the plain loop c[i] = a[i] + b[i] on floats; sum, max,
// min and the bit operators on plain numbers are to reach 0.9 of it at least.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/benchmarks/kernels_timing.hpp"

namespace {

using namespace rondo::benchmarks;
namespace kernels = rondo::kernels;
using kernels::Kernel;

constexpr double goal = 0.9;  // of STREAM's add

struct Options {
    bool json = false;
    std::string level = kernels::instruction_set();
    std::size_t l2_bytes = 0;
    std::size_t memory_bytes = 0;
    int repetitions = 7;
};

Options parse(int argument_count, char** arguments) {
    Options options;
    options.l2_bytes = bytes_in_l2();
    options.memory_bytes = bytes_in_memory();
    for (int i = 1; i < argument_count; ++i) {
        const std::string name = arguments[i];
        if (name == "--json") {
            options.json = true;
            continue;
        }
        if (i + 1 == argument_count) throw std::invalid_argument(name + ": unknown option, or its value is missing");
        const std::string value = arguments[++i];
        if (name == "--level") {
            options.level = value;
        } else if (name == "--l2-kib") {
            options.l2_bytes = std::stoul(value) << 10;
        } else if (name == "--memory-mib") {
            options.memory_bytes = std::stoul(value) * mib;
        } else if (name == "--repetitions") {
            options.repetitions = std::max(1, std::stoi(value));
        } else {
            throw std::invalid_argument(name + ": unknown option");
        }
    }
    return options;
}

kernels::InstructionSet level_named(const std::string& name) {
    if (name == "avx512") return kernels::InstructionSet::avx512;
    if (name == "avx2") return kernels::InstructionSet::avx2;
    if (name == "baseline") return kernels::InstructionSet::baseline;
    throw std::invalid_argument(name + ": unknown level");
}

struct Place {
    const char* name;
    std::size_t bytes;  ///< per operand
    bool in_place;      ///< into == right
};

struct Samples {
    std::vector<double> kernel, copy;                  ///< seconds
    std::vector<double> against_stream, against_copy;  ///< ratios of bandwidths
};

void measure_once(const Case& entry, Kernel kernel, const Place& place, const Buffers& buffers, Samples& samples) {
    const auto* left = buffers.operand(0);
    auto* right = buffers.operand(1);
    auto* into = place.in_place ? right : buffers.operand(2);
    const int runs = runs_of(place.bytes);
    // In place, results are the next operands, and strange numbers have a strange cost.
    const auto time = [&](auto run) {
        if (place.in_place) fill(right, place.bytes, 2);
        return seconds_per_run(runs, run);
    };
    const std::size_t count = place.bytes / kernels::extent(entry.element);
    const double stream = time([&] { stream_add(left, right, into, place.bytes); });
    const double own = time([&] { kernel(left, right, into, count); });
    const double copy = time([&] { std::memcpy(into, left, place.bytes); });
    samples.kernel.push_back(own);
    samples.copy.push_back(copy);
    samples.against_stream.push_back(stream / own);
    samples.against_copy.push_back(1.5 * copy / own);
}

double nanoseconds_of_short_call(Kernel kernel, const Buffers& buffers) {
    std::vector<double> seconds(9);
    for (double& each : seconds) {
        each = seconds_per_run(10000, [&] { kernel(buffers.operand(0), buffers.operand(1), buffers.operand(2), 8); });
    }
    return median(seconds) * 1e9;
}

void print(const Options& options, const Place& place, const Case& entry, const Samples& samples, double short_call) {
    const double bytes = static_cast<double>(place.bytes);
    const double kernel = 3 * bytes / median(samples.kernel) / 1e9;
    const double copy = 2 * bytes / median(samples.copy) / 1e9;
    const double against_stream = median(samples.against_stream);
    const double against_copy = median(samples.against_copy);
    if (options.json) {
        static const char* separator = "";
        std::printf(
            "%s\n  {\"place\": \"%s\", \"bytes\": %zu, \"operation\": \"%s\", \"element\": \"%s\", "
            "\"gb_per_s\": %.2f, \"memcpy_gb_per_s\": %.2f, \"ratio_to_stream_add\": %.3f, \"ratio_to_memcpy\": %.3f, "
            "\"ns_of_8_elements\": %.1f}",
            separator, place.name, place.bytes, entry.operation_name, entry.element_name, kernel, copy, against_stream,
            against_copy, short_call);
        separator = ",";
    } else {
        std::printf("%-7s %-14s %9.1f %9.2f %9.1f %9.2f %11.1f\n", entry.operation_name, entry.element_name, kernel,
                    against_stream, copy, against_copy, short_call);
    }
}

/// The smallest ratio to the add of those that must be as fast as memory.
struct Least {
    double ratio = 1e9;
    std::string where;
    void take(double other, const Case& entry, const Place& place) {
        if (other >= ratio) return;
        ratio = other;
        where = std::string(entry.operation_name) + " " + entry.element_name + ", " + place.name;
    }
};

void measure(const Options& options, const Place& place, Least& least) {
    const Buffers buffers(place.bytes);
    std::vector<Samples> samples(std::size(cases));
    std::vector<Kernel> found;
    for (const Case& entry : cases) found.push_back(find(entry.operation, entry.element, level_named(options.level)));
    if (found.front() == nullptr) throw std::invalid_argument(options.level + ": not on this processor");
    const int repetitions = place.bytes == options.l2_bytes ? 5 * options.repetitions : options.repetitions;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        for (std::size_t i = 0; i < std::size(cases); ++i) {
            measure_once(cases[i], found[i], place, buffers, samples[i]);
        }
    }
    if (!options.json) {
        std::printf("\n%s, %zu KiB per operand, %s\n%-22s %9s %9s %9s %9s %11s\n", place.name, place.bytes >> 10,
                    options.level.c_str(), "", "GB/s", "/ add", "memcpy", "/ memcpy", "8 elem., ns");
    }
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        if (moves_memory(cases[i])) least.take(median(samples[i].against_stream), cases[i], place);
        print(options, place, cases[i], samples[i], nanoseconds_of_short_call(found[i], buffers));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        const Options options = parse(argument_count, arguments);
        if (options.json) std::printf("{\"level\": \"%s\", \"results\": [", options.level.c_str());
        Least least;
        measure(options, {"L2", options.l2_bytes, false}, least);
        measure(options, {"L2 in place", options.l2_bytes, true}, least);
        measure(options, {"memory", options.memory_bytes, false}, least);
        measure(options, {"memory in place", options.memory_bytes, true}, least);
        if (options.json) {
            std::printf("\n], \"least_ratio_to_stream_add\": %.3f}\n", least.ratio);
        } else {
            std::printf(
                "\nsum, max, min and bits of plain numbers reach %.2f of STREAM's add at least (%s); at least %.2f: "
                "%s\n",
                least.ratio, least.where.c_str(), goal, least.ratio >= goal ? "met" : "missed");
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kernels_benchmark: %s\n", error.what());
        return 2;
    }
}
