// SPDX-License-Identifier: BSD-3-Clause
#include "computing.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>

#include "clock.hpp"

namespace rondo::bench {
namespace {

constexpr std::int64_t trial_steps = 1'000'000;
constexpr int trials = 5;
constexpr double shortest_piece = 1e-6;  // seconds

/// Has the compiler compute the value here, neither earlier nor not at all.
void need(double& value) { asm volatile("" : "+m"(value) : : "memory"); }

/// Arithmetic that takes as long for each step, and reads no memory.
void work(double steps) {
    double value = 1;
    need(value);
    for (auto left = static_cast<std::int64_t>(steps); left > 0; --left) value = value * 0.999 + 0.001;
    need(value);
}

/// The most that any of a few trials shows: what disturbs them makes them slower.
double measured_speed() {
    double fastest = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const double began = monotonic_seconds();
        work(trial_steps);
        fastest = std::max(fastest, trial_steps / (monotonic_seconds() - began));
    }
    return fastest;
}

}  // namespace

Computing::Computing(bool sleeps)
    : sleeps_(sleeps), steps_per_second_(sleeps ? 0 : measured_speed()),
      forget_polls_(reinterpret_cast<ForgetPolls>(dlsym(RTLD_DEFAULT, "rondo_forget_polls"))) {}

void Computing::run(double seconds, int pieces, MPI_Request& request) const {
    pieces = std::clamp(static_cast<int>(std::min(seconds / shortest_piece, 1.0 * pieces)), 1, pieces);
    double done = 0;
    int is_complete = 0;
    for (int piece = 1; piece <= pieces; ++piece) {
        done = until(seconds * piece / pieces, done);
        if (is_complete == 0) MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    }
}

double Computing::until(double seconds, double done) const {
    if (seconds <= done) return done;
    if (!sleeps_) {
        work((seconds - done) * steps_per_second_);
        return seconds;
    }
    // A sleep that lasts too long has computed so much more: the next piece is as much shorter.
    const double began = monotonic_seconds();
    sleep_seconds(seconds - done);
    if (forget_polls_ != nullptr) forget_polls_();
    return done + monotonic_seconds() - began;
}

}  // namespace rondo::bench
