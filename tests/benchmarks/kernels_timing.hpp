// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks of the reduction kernels share: which kernels, on what data, beside which loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "rondo/kernels/kernels.hpp"

namespace rondo::benchmarks {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RONDO_EVERY_LEVEL __attribute__((noinline, optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define RONDO_EVERY_LEVEL __attribute__((noinline))
#endif

#if defined(__clang__)
#define RONDO_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define RONDO_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// The add of STREAM (McCalpin 1995), as a compiler makes it from the plain loop.
RONDO_EVERY_LEVEL inline void stream_add(const float* left, const float* right, float* into, std::size_t count) {
    RONDO_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) into[i] = left[i] + right[i];
}

inline void stream_add(const unsigned char* left, const unsigned char* right, unsigned char* into, std::size_t bytes) {
    stream_add(reinterpret_cast<const float*>(left), reinterpret_cast<const float*>(right),
               reinterpret_cast<float*>(into), bytes / sizeof(float));
}

struct Case {
    const char* operation_name;
    const char* element_name;
    kernels::Operation operation;
    kernels::Element element;
};

// Where operators and types share a loop (sums of int32 and uint32, say), one of them stands for all.
#define CASE(operation, element) \
    Case { #operation, #element, kernels::Operation::operation, kernels::Element::element }
inline constexpr Case cases[] = {
    CASE(sum, int8),          CASE(sum, int16),          CASE(sum, int32),
    CASE(sum, int64),         CASE(sum, float32),        CASE(sum, float64),
    CASE(max, int8),          CASE(max, uint8),          CASE(max, int16),
    CASE(max, uint16),        CASE(max, int32),          CASE(max, uint32),
    CASE(max, int64),         CASE(max, uint64),         CASE(max, float32),
    CASE(max, float64),       CASE(min, int8),           CASE(min, uint8),
    CASE(min, int16),         CASE(min, uint16),         CASE(min, int32),
    CASE(min, uint32),        CASE(min, int64),          CASE(min, uint64),
    CASE(min, float32),       CASE(min, float64),        CASE(band, int8),
    CASE(band, int16),        CASE(band, int32),         CASE(band, int64),
    CASE(bor, int8),          CASE(bor, int16),          CASE(bor, int32),
    CASE(bor, int64),         CASE(bxor, int8),          CASE(bxor, int16),
    CASE(bxor, int32),        CASE(bxor, int64),         CASE(bxor, byte),
    CASE(sum, complex64),     CASE(sum, complex128),     CASE(prod, int8),
    CASE(prod, int16),        CASE(prod, int32),         CASE(prod, int64),
    CASE(prod, float32),      CASE(prod, float64),       CASE(prod, complex64),
    CASE(prod, complex128),   CASE(land, int32),         CASE(lor, boolean),
    CASE(lxor, int64),        CASE(maxloc, float_int),   CASE(minloc, float_int),
    CASE(maxloc, double_int), CASE(minloc, double_int),  CASE(maxloc, long_int),
    CASE(minloc, long_int),   CASE(maxloc, int_int),     CASE(minloc, int_int),
    CASE(maxloc, short_int),  CASE(maxloc, float_float), CASE(minloc, double_double),
};
#undef CASE

/// Whether these must be as fast as memory: sum, max, min and the bits of plain numbers.
inline bool moves_memory(const Case& entry) {
    using kernels::Element, kernels::Operation;
    if (entry.element > Element::float64 && entry.element != Element::byte) return false;
    switch (entry.operation) {
        case Operation::sum:
        case Operation::max:
        case Operation::min:
        case Operation::band:
        case Operation::bor:
        case Operation::bxor: return true;
        default: return false;
    }
}

inline bool is_pair(const Case& entry) {
    return entry.operation == kernels::Operation::maxloc || entry.operation == kernels::Operation::minloc;
}

/// Of the cache that a core has or shares, by Linux. (`sysconf` counts the last level of all cores of some processors.)
inline std::size_t cache_bytes(int level, std::size_t otherwise) {
    for (int index = 0;; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
        int its_level = 0;
        if (!(std::ifstream(folder + "/level") >> its_level)) return otherwise;
        std::string type;
        std::size_t kib = 0;
        std::ifstream(folder + "/type") >> type;
        std::ifstream(folder + "/size") >> kib;
        if (its_level == level && type != "Instruction" && kib > 0) return kib << 10;
    }
}

constexpr std::size_t mib = std::size_t{1} << 20;

/// Of an operand, of which three fill half of L2.
inline std::size_t bytes_in_l2() { return cache_bytes(2, mib) / 6 / 4096 * 4096; }
/// Of an operand, which alone exceeds the last level, up to half a GiB.
inline std::size_t bytes_in_memory() { return std::clamp(cache_bytes(3, 32 * mib) * 5 / 4, 64 * mib, 512 * mib); }

/// Ordinary numbers of at least 1 as float and as double, and so are their sums and products: no denormals, few ties.
inline void fill(unsigned char* bytes, std::size_t count, std::uint64_t seed) {
    std::uint64_t state = seed;
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

inline double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// So many that a turn on operands of this length takes long enough to be timed.
inline int runs_of(std::size_t bytes) { return static_cast<int>(std::max<std::size_t>(1, 4 * mib / bytes)); }

/// Three operands.
class Buffers {
  public:
    explicit Buffers(std::size_t bytes)
        // Different offsets within a page: a load seems to depend on a store at the same offset.
        : stride_((bytes + 4095) / 4096 * 4096 + 1024), size_((3 * stride_ + 4095) / 4096 * 4096),
          memory_(static_cast<unsigned char*>(std::aligned_alloc(4096, size_))) {
        if (!memory_) throw std::bad_alloc();
        fill(memory_.get(), size_, 1);
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

}  // namespace rondo::benchmarks
