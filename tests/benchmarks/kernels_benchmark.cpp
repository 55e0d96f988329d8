// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of the reduction kernels beside a plain c[i] = a[i] + b[i] loop and memcpy, in L2 and in memory.
//
//   kernels_benchmark [--json] [--level baseline|avx2|avx512] [--l2-kib N] [--memory-mib N] [--repetitions N]
//
// Sizes are bytes per operand. GB/s counts what the program asks for: two operands read and one written (memcpy: one
// and one). Repetitions are interleaved: every kernel is timed right after the plain loop, and the ratio is the median
// of the ratios of such neighbours, so that drift of a shared machine cancels. In L2 there are 5 N repetitions, short
// enough to fit between two turns of the scheduler.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "rondo/backends/mpi/kernels.hpp"

namespace {

namespace kernels = rondo::kernels;
using kernels::Element;
using kernels::Kernel;
using kernels::Operation;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_LEVEL __attribute__((noinline, optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_LEVEL __attribute__((noinline))
#endif

#if defined(__clang__)
#define INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

EVERY_LEVEL void plain_loop(const float* left, const float* right, float* into, std::size_t count) {
    INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) into[i] = left[i] + right[i];
}

struct Case {
    const char* operation_name;
    const char* element_name;
    Operation operation;
    Element element;
};

#define CASE(operation, element) \
    Case { #operation, #element, Operation::operation, Element::element }
constexpr Case cases[] = {
    CASE(sum, float32),       CASE(sum, float64),        CASE(sum, int32),
    CASE(sum, int64),         CASE(sum, int8),           CASE(sum, int16),
    CASE(sum, complex128),    CASE(max, float32),        CASE(max, float64),
    CASE(max, int32),         CASE(min, int64),          CASE(max, uint8),
    CASE(prod, float64),      CASE(prod, int32),         CASE(prod, int64),
    CASE(prod, int8),         CASE(prod, complex64),     CASE(prod, complex128),
    CASE(band, uint64),       CASE(bxor, byte),          CASE(land, int32),
    CASE(lor, boolean),       CASE(lxor, int64),         CASE(maxloc, float_int),
    CASE(maxloc, double_int), CASE(minloc, long_int),    CASE(maxloc, int_int),
    CASE(minloc, short_int),  CASE(maxloc, float_float), CASE(minloc, double_double),
};
#undef CASE

struct Options {
    bool json = false;
    std::string level = kernels::instruction_set();
    std::size_t l2_bytes = 0;
    std::size_t memory_bytes = 0;
    int repetitions = 7;
};

std::size_t cache_bytes(int name, std::size_t otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

/// Three operands fill half of L2; one operand alone exceeds the last level, up to half a GiB.
Options parse(int argument_count, char** arguments) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    Options options;
    options.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, mib) / 6 / 4096 * 4096;
    options.memory_bytes = std::clamp(cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 * mib) * 5 / 4, 64 * mib, 512 * mib);
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

/// Ordinary numbers of at least 1 as float and as double, and so are their sums and products: no denormals, few ties.
void fill(unsigned char* bytes, std::size_t count) {
    std::uint64_t state = 1;
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const std::uint64_t word = 0x3ff000003f800000U | (state >> 44 << 32) | (state >> 24 & 0x7fffffU);
        std::memcpy(bytes + i, &word, 8);
    }
}

template <class Run>
double seconds_per_run(int runs, Run run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

struct Place {
    const char* name;
    std::size_t bytes;  ///< per operand
    bool in_place;      ///< into == right
};

struct Samples {
    std::vector<double> kernel, copy;                 ///< seconds
    std::vector<double> against_plain, against_copy;  ///< ratios of bandwidths
};

class Buffers {
  public:
    explicit Buffers(std::size_t bytes)
        // Different offsets within a page: a load seems to depend on a store at the same offset.
        : stride_((bytes + 4095) / 4096 * 4096 + 1024), size_((3 * stride_ + 4095) / 4096 * 4096),
          memory_(static_cast<unsigned char*>(std::aligned_alloc(4096, size_))) {
        if (!memory_) throw std::bad_alloc();
        fill(memory_.get(), size_);
    }
    [[nodiscard]] unsigned char* operand(std::size_t i) const { return memory_.get() + i * stride_; }

  private:
    struct Free {
        void operator()(unsigned char* memory) const { std::free(memory); }
    };
    std::size_t stride_;
    std::size_t size_;
    std::unique_ptr<unsigned char, Free> memory_;
};

void measure_once(const Case& entry, Kernel kernel, const Place& place, const Buffers& buffers, Samples& samples) {
    const auto* left = buffers.operand(0);
    auto* right = buffers.operand(1);
    auto* into = place.in_place ? right : buffers.operand(2);
    const int runs = static_cast<int>(std::max<std::size_t>(1, (std::size_t{4} << 20) / place.bytes));
    // In place, results are the next operands, and strange numbers have a strange cost.
    const auto time = [&](auto run) {
        if (place.in_place) fill(right, place.bytes);
        return seconds_per_run(runs, run);
    };
    const std::size_t count = place.bytes / kernels::extent(entry.element);
    const double plain = time([&] {
        plain_loop(reinterpret_cast<const float*>(left), reinterpret_cast<const float*>(right),
                   reinterpret_cast<float*>(into), place.bytes / sizeof(float));
    });
    const double own = time([&] { kernel(left, right, into, count); });
    const double copy = time([&] { std::memcpy(into, left, place.bytes); });
    samples.kernel.push_back(own);
    samples.copy.push_back(copy);
    samples.against_plain.push_back(plain / own);
    samples.against_copy.push_back(1.5 * copy / own);
}

double nanoseconds_of_short_call(Kernel kernel, const Buffers& buffers) {
    std::vector<double> seconds;
    for (int i = 0; i < 9; ++i) {
        seconds.push_back(
            seconds_per_run(10000, [&] { kernel(buffers.operand(0), buffers.operand(1), buffers.operand(2), 8); }));
    }
    return median(seconds) * 1e9;
}

void print(const Options& options, const Place& place, const Case& entry, const Samples& samples, double short_call) {
    const double bytes = static_cast<double>(place.bytes);
    const double kernel = 3 * bytes / median(samples.kernel) / 1e9;
    const double copy = 2 * bytes / median(samples.copy) / 1e9;
    const double against_plain = median(samples.against_plain);
    const double against_copy = median(samples.against_copy);
    if (options.json) {
        static const char* separator = "";
        std::printf(
            "%s\n  {\"place\": \"%s\", \"bytes\": %zu, \"operation\": \"%s\", \"element\": \"%s\", "
            "\"gb_per_s\": %.2f, \"memcpy_gb_per_s\": %.2f, \"ratio_to_plain\": %.3f, \"ratio_to_memcpy\": %.3f, "
            "\"ns_of_8_elements\": %.1f}",
            separator, place.name, place.bytes, entry.operation_name, entry.element_name, kernel, copy, against_plain,
            against_copy, short_call);
        separator = ",";
    } else {
        std::printf("%-7s %-14s %9.1f %9.2f %9.1f %9.2f %11.1f\n", entry.operation_name, entry.element_name, kernel,
                    against_plain, copy, against_copy, short_call);
    }
}

void measure(const Options& options, const Place& place) {
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
                    options.level.c_str(), "", "GB/s", "/ plain", "memcpy", "/ memcpy", "8 elem., ns");
    }
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        print(options, place, cases[i], samples[i], nanoseconds_of_short_call(found[i], buffers));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        const Options options = parse(argument_count, arguments);
        if (options.json) std::printf("{\"level\": \"%s\", \"results\": [", options.level.c_str());
        measure(options, {"L2", options.l2_bytes, false});
        measure(options, {"L2 in place", options.l2_bytes, true});
        measure(options, {"memory", options.memory_bytes, false});
        if (options.json) std::printf("\n]}\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kernels_benchmark: %s\n", error.what());
        return 2;
    }
}
