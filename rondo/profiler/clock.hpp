// SPDX-License-Identifier: BSD-3-Clause
// The clock that calls are timed with.
#pragma once

#include <cstdint>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

inline std::uint64_t nanoseconds() { return mpi::now(); }

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
