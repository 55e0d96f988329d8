// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdio>
#include <limits>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {

/// Until when somebody waits for a prediction. Of many ranks it may take minutes, and how long is hard to tell before:
/// some algorithms have many messages, others look at all ranks before they send one.
class Deadline {
  public:
    /// Never.
    Deadline() = default;
    /// So many seconds from now on.
    explicit Deadline(double seconds) : seconds_(seconds) {
        constexpr double year = 3e7;  // longer ones may not fit into a duration
        if (seconds < year)
            at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    /// Throws Error if it has passed.
    void check() const {
        if (at_ == Clock::time_point::max() || Clock::now() < at_) return;
        char text[64];  // NOLINT(*-avoid-c-arrays)
        std::snprintf(text, sizeof(text), "more than %.2g s to predict it", seconds_);
        throw Error(text);
    }

  private:
    using Clock = std::chrono::steady_clock;
    double seconds_ = std::numeric_limits<double>::infinity();
    Clock::time_point at_ = Clock::time_point::max();
};

}  // namespace rondo::virtual_machine
