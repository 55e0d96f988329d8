// SPDX-License-Identifier: BSD-3-Clause
// The clock that calls are timed with.
#pragma once

#include <cstdint>
#include <ctime>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

inline std::uint64_t nanoseconds() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Whether the processor's counter is a clock: the kernel uses it as one, since it is the same on all cores and never
/// changes its rate.
extern bool processor_counts;
void choose_clock();

/// Only if the processor's counter is a clock.
inline Ticks processor_ticks() {
#ifdef __x86_64__
    return __rdtsc();
#else
    return nanoseconds();
#endif
}

/// Of a clock that all processes of a machine share.
inline Ticks ticks() { return processor_counts ? processor_ticks() : nanoseconds(); }

/// Now, by both clocks.
Moment moment();

}  // namespace rondo::profiler
