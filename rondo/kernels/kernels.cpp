// SPDX-License-Identifier: BSD-3-Clause
// Which level's kernels this processor gets.

#include "rondo/kernels/kernels.hpp"
#include "rondo/kernels/prefix.hpp"

#ifdef RONDO_KERNELS_X86_LEVELS
#include <cpuid.h>
#endif
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

#ifdef RONDO_KERNELS_X86_LEVELS
/// Which registers the system saves: a word of bits (Intel 64 manual, volume 1, 13.3). Only if the processor has XSAVE.
unsigned saved_registers() noexcept {
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

/// Asks for every extension that cmake/Kernels.cmake compiles the level with, and that the system saves its registers.
/// Not by __builtin_cpu_supports, which some compilers' libraries answer with no.
InstructionSet detect() noexcept {
#ifdef RONDO_KERNELS_X86_LEVELS
    constexpr unsigned of_avx2 = bit_AVX2 | bit_BMI | bit_BMI2, ymm = 0x6;
    constexpr unsigned of_avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL, zmm = 0xe0 | ymm;
    constexpr unsigned basic = bit_FMA | bit_OSXSAVE;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & basic) != basic) return InstructionSet::baseline;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return InstructionSet::baseline;
    const unsigned saved = saved_registers();
    if ((ebx & of_avx2) != of_avx2 || (saved & ymm) != ymm) return InstructionSet::baseline;
    return (ebx & of_avx512) == of_avx512 && (saved & zmm) == zmm ? InstructionSet::avx512 : InstructionSet::avx2;
#else
    return InstructionSet::baseline;
#endif
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
