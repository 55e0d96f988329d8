// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/clock.hpp"

#include <fstream>
#include <string>

namespace rondo::profiler {

bool processor_counts = false;

void choose_clock() {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string name;
    processor_counts = std::getline(file, name) && name == "tsc";
}

/// Of a few, the one between whose two ticks the least time has passed.
Moment moment() {
    Moment best;
    Ticks least = ~Ticks{0};
    for (int i = 0; i < 3; ++i) {
        const Ticks before = ticks();
        const std::uint64_t time = nanoseconds();
        const Ticks passed = ticks() - before;
        if (passed >= least) continue;
        least = passed;
        best = {before + passed / 2, time};
    }
    return best;
}

}  // namespace rondo::profiler
