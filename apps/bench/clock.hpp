// SPDX-License-Identifier: BSD-3-Clause
// This process's clock and its sleep: the one place that asks the operating system for time.
#pragma once

namespace rondo::bench {

/// Seconds on a clock that only goes forward, the same one for all processes of a machine.
double monotonic_seconds();

/// Sleeps for about so long; not at all if negative.
void sleep_seconds(double seconds);

/// Asks that sleeps end when they are due, not up to 50 us later, as Linux does for ordinary processes.
void ask_for_punctual_sleep();

}  // namespace rondo::bench
