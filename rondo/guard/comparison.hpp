// SPDX-License-Identifier: BSD-3-Clause
// Which of two contenders is faster, by the times of some calls of each on a machine that disturbs calls. Without
// <mpi.h>.
//
// A disturbance makes a call longer, never shorter, by any amount, and may strike half of the calls. So a mean says
// nothing, and neither does the fastest of a few calls: all of them may have been struck. What counts is whose calls
// are the fastest ones of all: if there is no difference, each of the fastest is as likely the one's as the other's
// (the precedence test: Nelson, "Tables for a precedence life test", Technometrics 5 (1963)). It needs no more than
// half of the calls, but a single lucky call spoils it. So the order of all calls counts as well (the rank-sum test:
// Mann, Whitney, "On a test of whether one of two random variables is stochastically larger than the other", Annals of
// Mathematical Statistics 18 (1947)): where calls vary, but few are disturbed, it tells sooner.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace rondo::guard {

enum class Contender : std::uint8_t { rondo, library };

constexpr Contender other(Contender contender) {
    return contender == Contender::rondo ? Contender::library : Contender::rondo;
}

struct Comparison {
    enum class Finding : std::uint8_t {
        noise,  ///< nobody can tell
        alike,  ///< whatever the difference is, it is small
        clear
    };
    Finding finding = Finding::noise;
    Contender faster = Contender::rondo;  ///< by typical calls, whether that is clear or not
    bool leans_to_rondo = false;          ///< the order of all calls speaks for Rondo, if not clearly
    float rondo = 0, library = 0;         ///< estimated time of an undisturbed call of each

    /// A smaller ratio of times is not worth a verdict.
    static constexpr float worth_it = 1.1F;
    /// If the difference is clear, the fastest calls of one contender are faster than all of the other by this ratio.
    /// Calls that all differ by less are alike. So are calls of which typical ones differ by less than `worth_it`,
    /// unless the order of all says that Rondo's may be the faster ones: alike ones are the library's.
    static constexpr float margin = 1.05F;
    /// The probability that the fastest calls show a difference where there is none.
    static constexpr double error = 0.01;
    /// The order of all calls differs from that of alike ones by so many standard deviations in one of 200 comparisons.
    static constexpr float deviations = 2.81F;
    /// The order of alike calls leans to Rondo by so many standard deviations in one of three comparisons. Where nobody
    /// can tell, the order is better than nothing.
    static constexpr float leaning = 0.5F;
    /// The order alone of fewer calls than `few` is not so certain: with two, three or four calls of each, the gap
    /// between the contenders also has to be so many times as wide as that between the calls of one.
    static constexpr std::array<float, 3> gaps = {8, 3, 1};
    /// The largest ratio that so few calls can show: all calls of one may have been struck by the same disturbance.
    static constexpr float plausible = 8;
    /// Fewer calls than these say nothing about a small difference if they are disturbed.
    static constexpr int few = 5;
};

/// How many of the fastest of `calls` calls of each are those of one contender by mere chance in at most one of a
/// hundred comparisons; more than `calls` if there are too few.
constexpr int fastest_needed(int calls) {
    double chance = 2;
    for (int needed = 1; needed <= calls; ++needed) {
        chance *= double(calls - needed + 1) / (2 * calls - needed + 1);
        if (chance <= Comparison::error) return needed;
    }
    return calls + 1;
}

/// By how many standard deviations the order of all calls differs from that of alike ones: how few pairs of a call of
/// each have the faster contender's call, taken `margin` times as long, behind the other's. Both spans have the same
/// size.
inline float deviations_of_order(std::span<const float> fast, std::span<const float> slow, float margin) {
    const auto calls = static_cast<float>(fast.size());
    float reversed = 0;
    for (const float each : fast) {
        for (const float other : slow) {
            const float at_least = each * margin;
            reversed += at_least > other ? 1.0F : at_least == other ? 0.5F : 0.0F;
        }
    }
    return (calls * calls / 2 - reversed) / (calls * std::sqrt((2 * calls + 1) / 12));
}

/// Compares the times of as many calls of one contender as of the other. Sorts them.
inline Comparison compare(std::span<float> rondo, std::span<float> library) {
    Comparison found;
    const auto calls = static_cast<int>(std::min(rondo.size(), library.size()));
    if (calls == 0) return found;
    std::ranges::sort(rondo);
    std::ranges::sort(library);
    // Typical times are those of the first quarter: cold and disturbed calls are slow, and a lucky one may be too fast.
    const auto typical = static_cast<std::size_t>(std::max(1, calls / 4) - 1);
    found.rondo = rondo[typical];
    found.library = library[typical];
    found.faster = found.rondo <= found.library ? Contender::rondo : Contender::library;
    const auto [fast, slow] = found.faster == Contender::rondo ? std::pair(rondo, library) : std::pair(library, rondo);
    const float for_rondo = deviations_of_order(rondo, library, 1);
    found.leans_to_rondo = for_rondo >= Comparison::leaning;
    const std::size_t last = fast.size() - 1;
    if (calls >= 2 && std::max(fast[last], slow[last]) <= std::min(fast[0], slow[0]) * Comparison::margin) {
        found.finding = Comparison::Finding::alike;
        return found;
    }
    const int needed = fastest_needed(calls);
    if (needed <= calls) {
        const bool are_fastest = fast[static_cast<std::size_t>(needed - 1)] * Comparison::margin <= slow[0];
        const bool is_small = calls >= Comparison::few && slow[typical] < fast[typical] * Comparison::worth_it;
        if (are_fastest || deviations_of_order(fast, slow, Comparison::margin) >= Comparison::deviations) {
            const bool says_so = found.rondo != found.library;  // what is kept has to say who has won
            found.finding = says_so ? Comparison::Finding::clear : Comparison::Finding::alike;
        } else if (is_small && for_rondo < 1) {
            found.finding = Comparison::Finding::alike;
        }
        return found;
    }
    if (calls < 2) return found;
    const float gap = slow[0] - fast[last], widest = std::max(fast[last] - fast[0], slow[last] - slow[0]);
    const bool is_wide = gap >= Comparison::gaps[static_cast<std::size_t>(calls - 2)] * widest;
    const bool is_plausible = slow[0] <= fast[0] * Comparison::plausible;
    if (is_wide && is_plausible && fast[last] * Comparison::worth_it <= slow[0]) {
        found.finding = Comparison::Finding::clear;
    }
    return found;
}

}  // namespace rondo::guard
