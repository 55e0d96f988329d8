// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/distribution/minimax.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rondo {
namespace {

/// To the nearest point in the box whose sum is that: all are shifted alike, as far as the box lets them.
void project(std::vector<double>& x, double sum, const Minimax::Box& box) {
    const auto shifted_sum = [&](double shift) {
        double found = 0;
        for (std::size_t k = 0; k < x.size(); ++k) found += std::clamp(x[k] + shift, box.least[k], box.most[k]);
        return found;
    };
    double shift = (sum - std::accumulate(x.begin(), x.end(), 0.0)) / static_cast<double>(x.size());
    const double missing = sum - shifted_sum(shift);
    if (std::abs(missing) > 1e-12 * static_cast<double>(x.size())) {
        constexpr int halvings = 48;
        double low = shift, high = shift, step = std::abs(missing);
        while (missing > 0 && shifted_sum(high) < sum && step < 1e30) high += step *= 2;
        while (missing < 0 && shifted_sum(low) > sum && step < 1e30) low -= step *= 2;
        for (int i = 0; i < halvings; ++i) {
            shift = (low + high) / 2;
            (shifted_sum(shift) < sum ? low : high) = shift;
        }
    }
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::clamp(x[k] + shift, box.least[k], box.most[k]);
}

}  // namespace

void Minimax::add(std::uint32_t i, std::uint32_t j, double constant) {
    const auto [place, is_new] = places_.try_emplace(std::uint64_t{i} << 32 | j, rows_.size());
    if (is_new) rows_.push_back({i, j, constant});
    else rows_[place->second].constant = std::max(rows_[place->second].constant, constant);
}

double Minimax::at(const Row& row, const std::vector<double>& x) const {
    const double xi = row.i < variables_ ? x[row.i] : 0, xj = row.j < variables_ ? x[row.j] : 0;
    return first_ * xi + second_ * xj + row.constant;
}

double Minimax::value(const std::vector<double>& x) const {
    double most = at(rows_.front(), x);
    for (const Row& row : rows_) most = std::max(most, at(row, x));
    return most;
}

/// The logarithm of the sum of the exponentials, of rows over `width`.
double Minimax::smooth(const std::vector<double>& x, double width, std::vector<double>* gradient) const {
    constexpr double negligible = -30;  // exponents
    const double most = value(x);
    double sum = 0;
    if (gradient != nullptr) gradient->assign(variables_, 0);
    for (const Row& row : rows_) {
        const double exponent = (at(row, x) - most) / width;
        if (exponent < negligible) continue;
        const double weight = std::exp(exponent);
        sum += weight;
        if (gradient == nullptr) continue;
        if (row.i < variables_) (*gradient)[row.i] += first_ * weight;
        if (row.j < variables_) (*gradient)[row.j] += second_ * weight;
    }
    if (gradient != nullptr) {
        for (double& each : *gradient) each /= sum;
    }
    return most + width * std::log(sum);
}

/// Accelerated, and begun anew where it goes up. The step is as long as the function allows.
std::vector<double> Minimax::descend(std::vector<double> x, const Box& box, double width, int steps) const {
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    std::vector<double> y = x, next(x.size()), gradient;
    double curvature = 1 / (width * static_cast<double>(variables_)), momentum = 1, before = smooth(x, width, nullptr);
    for (int step = 0; step < steps; ++step) {
        const double at_y = smooth(y, width, &gradient);
        double reached = 0, change = 0;
        for (;; curvature *= 2) {
            double slope = 0;
            change = 0;
            for (std::size_t k = 0; k < x.size(); ++k) next[k] = y[k] - gradient[k] / curvature;
            project(next, sum, box);
            for (std::size_t k = 0; k < x.size(); ++k) {
                slope += gradient[k] * (next[k] - y[k]);
                change += (next[k] - y[k]) * (next[k] - y[k]);
            }
            reached = smooth(next, width, nullptr);
            if (reached <= at_y + slope + curvature / 2 * change + 1e-12 * std::abs(at_y)) break;
        }
        if (reached > before) {
            if (momentum == 1) break;
            momentum = 1;
            y = x;
            continue;
        }
        const double faster = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
        for (std::size_t k = 0; k < x.size(); ++k) y[k] = next[k] + (momentum - 1) / faster * (next[k] - x[k]);
        x.swap(next);
        before = reached;
        momentum = faster;
        curvature *= 0.8;
    }
    return x;
}

std::vector<double> Minimax::minimise(std::vector<double> x, const Box& box, double precision) const {
    constexpr int steps = 60, coarsest = 5;
    const double finest = precision / std::log(2.0 + static_cast<double>(rows_.size()));
    std::vector<double> best = x;
    for (int doublings = coarsest; doublings >= 0; --doublings) {
        x = descend(std::move(x), box, std::ldexp(finest, doublings), steps);
        if (value(x) < value(best)) best = x;
    }
    return best;
}

}  // namespace rondo
