// SPDX-License-Identifier: BSD-3-Clause
// What trials find out on a machine that disturbs calls: in simulated time, many trials of each kind, as
// docs/benchmarks/tables/guard.md shows it. Some share of the calls takes 1 to 10 ms longer, all vary by a tenth.
//
// `fastest` is the rule that the fastest of four calls of each contender wins, or the faster two of two if both are:
// what the guard went by before it counted how many of the fastest calls of all are one contender's.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>

#include "rondo/guard/trial.hpp"

namespace {

using rondo::guard::Contender;
using rondo::guard::Trial;

/// Nanoseconds of a call by a contender; Rondo takes `ratio` times as long.
class Machine {
  public:
    Machine(float undisturbed, float ratio, float disturbed)
        : undisturbed_(undisturbed), ratio_(ratio), disturbed_(disturbed) {}

    float time_of(Contender contender) {
        constexpr float jitter = 0.1F, least = 1e6F, most = 1e7F;
        const float time = undisturbed_ * (1 + jitter * share_(random_)) * (contender == Contender::rondo ? ratio_ : 1);
        return time + (share_(random_) < disturbed_ ? least + (most - least) * share_(random_) : 0);
    }

  private:
    float undisturbed_, ratio_, disturbed_;
    std::mt19937 random_{20261125};
    std::uniform_real_distribution<float> share_{0, 1};
};

enum class Outcome : std::uint8_t { rondo, library, none };

Outcome trial_on(Machine& machine) {
    Trial trial;
    while (!trial.is_over()) {
        const bool is_timed = trial.times_next();
        const Contender contender = trial.next();
        trial.begin_call();
        if (!is_timed) continue;
        trial.record(machine.time_of(contender));
        if (trial.is_due()) trial.judge(trial.times());
    }
    const bool is_alike = trial.time_of(Contender::rondo) == trial.time_of(Contender::library);
    if (is_alike || trial.is_undecided()) return Outcome::none;
    return trial.winner() == Contender::rondo ? Outcome::rondo : Outcome::library;
}

Outcome fastest_on(Machine& machine) {
    std::array<float, 4> rondo{}, library{};
    for (std::size_t call = 0; call < rondo.size(); ++call) {
        library[call] = machine.time_of(Contender::library);
        rondo[call] = machine.time_of(Contender::rondo);
        if (call != 1) continue;
        constexpr float clearly = 1.1F;
        if (std::max(rondo[0], rondo[1]) * clearly <= std::min(library[0], library[1])) return Outcome::rondo;
        if (std::max(library[0], library[1]) * clearly <= std::min(rondo[0], rondo[1])) return Outcome::library;
    }
    return *std::ranges::min_element(rondo) <= *std::ranges::min_element(library) ? Outcome::rondo : Outcome::library;
}

/// Percent of outcomes.
std::array<double, 3> percent(Outcome (*outcome_on)(Machine&), float undisturbed, float ratio, float disturbed) {
    constexpr int repetitions = 20000;
    Machine machine(undisturbed, ratio, disturbed);
    std::array<double, 3> found{};
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        found[static_cast<std::size_t>(outcome_on(machine))] += 100.0 / repetitions;
    }
    return found;
}

}  // namespace

int main() {
    std::puts(
        "| a call takes, us | disturbed | Rondo takes | fastest: wrong | right | now: wrong | right | no verdict |");
    std::puts("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (const float undisturbed : {1e3F, 1e5F, 1e6F, 5e6F}) {
        for (const float disturbed : {0.01F, 0.1F, 0.5F}) {
            for (const float ratio : {1.0F, 1.3F, 3.0F}) {
                const auto [fast_rondo, fast_library, none] = percent(fastest_on, undisturbed, ratio, disturbed);
                const auto [rondo, library, undecided] = percent(trial_on, undisturbed, ratio, disturbed);
                std::printf("| %g | %g%% | %g |", undisturbed / 1e3, disturbed * 100.0, ratio);
                // Without a difference, each verdict is wrong.
                if (ratio > 1)
                    std::printf(" %.1f%% | %.1f%% | %.1f%% | %.1f%% |", fast_rondo, fast_library, rondo, library);
                else std::printf(" %.1f%% | | %.1f%% | |", fast_rondo + fast_library, rondo + library);
                std::printf(" %.1f%% |\n", undecided + none);
            }
        }
    }
}
