// SPDX-License-Identifier: BSD-3-Clause
#include "line.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rondo::bench {
namespace {

constexpr double good_residual = 0.05;

/// Least squares of the relative deviations, so that every size counts alike, of two lines with one slope: messages
/// from index `first_long` on may have a latency of their own.
Line fit(const std::vector<double>& sizes, const std::vector<double>& seconds, std::size_t first_long) {
    struct Sums {
        double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    } sums[2];
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Sums& s = sums[i < first_long ? 0 : 1];
        const double weight = 1 / (seconds[i] * seconds[i]);
        s.w += weight;
        s.x += weight * sizes[i];
        s.y += weight * seconds[i];
        s.xx += weight * sizes[i] * sizes[i];
        s.xy += weight * sizes[i] * seconds[i];
    }
    double covariance = 0, variance = 0;
    for (const Sums& s : sums) {
        if (s.w == 0) continue;
        covariance += s.xy - s.x * s.y / s.w;
        variance += s.xx - s.x * s.x / s.w;
    }
    Line line{};
    line.seconds_per_byte = variance > 0 ? covariance / variance : 0;
    const auto latency = [&](const Sums& s) { return (s.y - line.seconds_per_byte * s.x) / s.w; };
    line.latency = latency(sums[0]);
    if (sums[1].w > 0) line.rendezvous = latency(sums[1]) - line.latency;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double step = i < first_long ? 0 : line.rendezvous;
        const double predicted = line.latency + step + sizes[i] * line.seconds_per_byte;
        line.residual = std::max(line.residual, std::abs(seconds[i] - predicted) / predicted);
    }
    return line;
}

}  // namespace

bool is_good(const Line& line) { return line.residual <= good_residual; }

Line best_fit(const std::vector<double>& sizes, const std::vector<double>& seconds) {
    Line best = fit(sizes, seconds, sizes.size());
    if (is_good(best)) return best;
    // On a slow network a single length may lie beyond the handshake. The slope is that of the others then.
    for (std::size_t first_long = 2; first_long < sizes.size(); ++first_long) {
        const Line line = fit(sizes, seconds, first_long);
        if (line.rendezvous > 0 && line.residual < best.residual) best = line;
    }
    return best;
}

}  // namespace rondo::bench
