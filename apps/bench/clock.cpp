// SPDX-License-Identifier: BSD-3-Clause
#include "clock.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <ctime>

namespace rondo::bench {

double monotonic_seconds() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void sleep_seconds(double seconds) {
    if (seconds <= 0) return;
    timespec time;
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    nanosleep(&time, nullptr);
}

void ask_for_punctual_sleep() {
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

}  // namespace rondo::bench
