// SPDX-License-Identifier: BSD-3-Clause
// Which level's kernels this processor gets.

#include "rondo/kernels/kernels.hpp"
#include "rondo/kernels/prefix.hpp"

#include <algorithm>
#include <unistd.h>

namespace rondo::kernels {

// Read by the kernels.
extern std::size_t streaming_threshold;

// Defined by level.hpp, once per level.
namespace baseline {
Kernel find(Operation operation, Element element) noexcept;
PrefixKernels find_prefix(Operation operation, Element element) noexcept;
std::size_t extent(Element element) noexcept;
}  // namespace baseline

#ifdef RONDO_KERNELS_X86_LEVELS
namespace avx2 {
Kernel find(Operation operation, Element element) noexcept;
PrefixKernels find_prefix(Operation operation, Element element) noexcept;
}  // namespace avx2
namespace avx512 {
Kernel find(Operation operation, Element element) noexcept;
PrefixKernels find_prefix(Operation operation, Element element) noexcept;
}  // namespace avx512
#endif

namespace {

/// Asks for every extension that cmake/kernels.cmake compiles the level with, and that the system saves its registers.
InstructionSet detect() noexcept {
#ifdef RONDO_KERNELS_X86_LEVELS
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (has_avx2) return has_avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
#endif
    return InstructionSet::baseline;
}

/// Ranks, and other machines' guests, share the last level: nobody can count on more than some 100 MiB of it.
std::size_t default_streaming_bytes() noexcept {
    constexpr std::size_t mib = std::size_t{1} << 20;
    long last_level = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return std::clamp(static_cast<std::size_t>(std::max(last_level, 0L)) / 3, 4 * mib, 32 * mib);
}

InstructionSet best() noexcept {
    static const InstructionSet level = detect();
    return level;
}

}  // namespace

Kernel find(Operation operation, Element element, InstructionSet level) noexcept {
    if (level > best()) return nullptr;
    switch (level) {
        case InstructionSet::baseline: return baseline::find(operation, element);
#ifdef RONDO_KERNELS_X86_LEVELS
        case InstructionSet::avx2: return avx2::find(operation, element);
        case InstructionSet::avx512: return avx512::find(operation, element);
#endif
        default: return nullptr;
    }
}

Kernel find(Operation operation, Element element) noexcept { return find(operation, element, best()); }

PrefixKernels find_prefix(Operation operation, Element element, InstructionSet level) noexcept {
    if (level > best()) return {};
    switch (level) {
        case InstructionSet::baseline: return baseline::find_prefix(operation, element);
#ifdef RONDO_KERNELS_X86_LEVELS
        case InstructionSet::avx2: return avx2::find_prefix(operation, element);
        case InstructionSet::avx512: return avx512::find_prefix(operation, element);
#endif
        default: return {};
    }
}

PrefixKernels find_prefix(Operation operation, Element element) noexcept {
    return find_prefix(operation, element, best());
}

std::size_t streaming_threshold = default_streaming_bytes();

std::size_t streaming_bytes() noexcept { return streaming_threshold; }

void set_streaming_bytes(std::size_t bytes) noexcept { streaming_threshold = bytes; }

std::size_t extent(Element element) noexcept { return baseline::extent(element); }

const char* instruction_set() noexcept {
    switch (best()) {
        case InstructionSet::avx512: return "avx512";
        case InstructionSet::avx2: return "avx2";
        default: return "baseline";
    }
}

}  // namespace rondo::kernels
