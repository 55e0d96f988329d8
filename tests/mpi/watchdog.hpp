// SPDX-License-Identifier: BSD-3-Clause
// Where a random program is, and the end of one that does not go on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "random_operation.hpp"

namespace random_programs {

/// Where this rank is, and what has been wrong.
struct Log {
    std::atomic<int> program = 0, step = 0;
    std::atomic<const char*> doing = "";
    int failures = 0;
    long calls = 0;
    bool traces = false;

    /// Says what this rank does now; where it is asked to, of every time.
    void begin(const char* what, const Operation* operation = nullptr, int index = -1) {
        doing = what;
        if (traces)
            std::fprintf(stderr, "seed %d step %d: %s (%d) %s\n", program.load(), step.load(), what, index,
                         operation != nullptr ? operation->description().c_str() : "");
    }

    void note(const std::string& what, const std::string& error) {
        constexpr int most_said = 10;
        if (error.empty()) return;
        if (++failures <= most_said)
            std::fprintf(stderr, "seed %d step %d: %s: %s\n", program.load(), step.load(), what.c_str(), error.c_str());
    }
};

/// Ends the process if a step takes too long.
class Watchdog {
  public:
    explicit Watchdog(const Log& log) : log_(log), thread_([this] { watch(); }) {}
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() {
        is_over_ = true;
        thread_.join();
    }

  private:
    static constexpr std::chrono::seconds patience{40};

    void watch() const {
        std::pair<int, int> last;
        auto since = std::chrono::steady_clock::now();
        while (!is_over_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            const std::pair<int, int> now{log_.program, log_.step};
            if (now != std::exchange(last, now)) since = std::chrono::steady_clock::now();
            if (std::chrono::steady_clock::now() - since < patience) continue;
            std::fprintf(stderr, "seed %d step %d: %s does not end\n", now.first, now.second, log_.doing.load());
            std::_Exit(3);
        }
    }

    const Log& log_;
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

}  // namespace random_programs
