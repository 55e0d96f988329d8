// SPDX-License-Identifier: BSD-3-Clause
// The passes of a prefix sum of doubles on one core, beside memcpy and a plain loop that reads: in pages of 4 KiB, and
// in huge ones.
//
//   prefix_passes_benchmark [MIB] [ROUNDS]
//
// GB/s counts what is read and what is written. All take turns; shown are medians. "of copy" is the time of memcpy for
// as many bytes, over that of the pass.

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "rondo/kernels/prefix.hpp"

namespace {

namespace kernels = rondo::kernels;

constexpr std::size_t piece = 32768;  // elements, as a prefix sum takes them between looks at messages
constexpr std::size_t huge_page = std::size_t{2} << 20;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Free {
    void operator()(double* array) const { std::free(array); }
};
using Array = std::unique_ptr<double[], Free>;

Array array_of(std::size_t count, bool in_huge_pages) {
    const std::size_t bytes = (count * sizeof(double) + huge_page - 1) / huge_page * huge_page;
    Array array(static_cast<double*>(std::aligned_alloc(huge_page, bytes)));
    if (!array) std::exit(2);
    madvise(array.get(), bytes, in_huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < count; ++i) array[i] = static_cast<double>(i % 10);
    return array;
}

struct Variant {
    const char* name;
    double moved;  // in bytes of an array
    std::function<void()> run;
    std::vector<double> times = {};

    [[nodiscard]] double median() {
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }
};

volatile double result;  // so that no loop is left out

void measure(std::size_t count, int rounds, bool in_huge_pages) {
    const Array from = array_of(count, in_huge_pages), into = array_of(count, in_huge_pages);
    const std::size_t bytes = count * sizeof(double);
    const kernels::PrefixKernels passes = kernels::find_prefix(kernels::Operation::sum, kernels::Element::float64);
    const bool past_caches = bytes >= kernels::streaming_bytes();
    const double prefix = 3;
    const auto in_pieces = [&](const auto& pass) {
        double sum = 0;
        for (std::size_t i = 0; i < count; i += piece) pass(i, std::min(piece, count - i), sum);
        result = sum;
    };
    Variant variants[] = {
        {"memcpy", 2, [&] { std::memcpy(into.get(), from.get(), bytes); }},
        {"plain reading loop", 1,
         [&] {
             double sums[16] = {};
             for (std::size_t i = 0; i + 16 <= count; i += 16) {
                 for (std::size_t j = 0; j < 16; ++j) sums[j] += from[i + j];
             }
             for (std::size_t j = 1; j < 16; ++j) sums[0] += sums[j];
             result = sums[0];
         }},
        {"reduce", 1,
         [&] {
             in_pieces(
                 [&](std::size_t i, std::size_t now, double& sum) { passes.reduce(from.get() + i, now, &sum, i > 0); });
         }},
        {"scan", 2,
         [&] {
             in_pieces([&](std::size_t i, std::size_t now, double& sum) {
                 passes.scan(
                     from.get() + i, into.get() + i, now,
                     {.sum = &sum, .any = i > 0, .prefix = &prefix, .exclusive = false, .past_caches = past_caches});
             });
         }},
    };
    for (int round = 0; round < rounds; ++round) {
        for (Variant& each : variants) {
            const double start = seconds();
            each.run();
            each.times.push_back(seconds() - start);
        }
    }
    std::printf("%zu MiB in %s\n", bytes >> 20, in_huge_pages ? "huge pages" : "pages of 4 KiB");
    const double copy = variants[0].median();
    for (Variant& each : variants) {
        const double median = each.median();
        std::printf("  %-20s %8.2f ms %6.1f GB/s %5.2f of copy\n", each.name, 1e3 * median,
                    1e-9 * each.moved * static_cast<double>(bytes) / median, copy * each.moved / 2 / median);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const std::size_t mib = argument_count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 400;
    const int rounds = argument_count > 2 ? static_cast<int>(std::strtol(arguments[2], nullptr, 10)) : 9;
    for (const bool in_huge_pages : {false, true})
        measure((mib << 20) / sizeof(double), std::max(1, rounds), in_huge_pages);
    return 0;
}
