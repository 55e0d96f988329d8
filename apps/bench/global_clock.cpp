// SPDX-License-Identifier: BSD-3-Clause
#include "global_clock.hpp"

#include <algorithm>
#include <cmath>

#include "clock.hpp"

namespace rondo::bench {
namespace {

constexpr int clock_tag = 3;
constexpr int exchanges = 12;            // of one measurement, of which the quickest counts
constexpr int first_points = 12;         // before anything is measured with the clock
constexpr double between_points = 0.01;  // seconds: a drift shows after a while only
constexpr std::size_t remembered_points = 64;
constexpr double polling = 200e-6;  // seconds before the time is due

}  // namespace

GlobalClock::GlobalClock(MPI_Comm comm, const std::vector<int>& machines, const ClockOptions& options) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    first_ = monotonic_seconds();
    const bool one_machine = std::all_of(machines.begin(), machines.end(), [](int machine) { return machine == 0; });
    shared_ = one_machine && !options.learned;
    if (shared_) return;
    if (size > 1 && rank > 0) {
        const double share = static_cast<double>(rank) / (size - 1);
        skew_ = options.skew * (rank % 2 == 0 ? share : -share);
        drift_ = options.drift * (rank % 2 == 0 ? -share : share);
    }
    const int machine = options.learned ? rank : machines[static_cast<std::size_t>(rank)];
    MPI_Comm_split(comm, machine, rank, &machine_);
    int rank_on_machine = 0;
    MPI_Comm_rank(machine_, &rank_on_machine);
    MPI_Comm_split(comm, rank_on_machine == 0 ? 0 : MPI_UNDEFINED, rank, &leaders_);
    for (int point = 0; point < first_points; ++point) {
        sleep_seconds(between_points);
        learn_point();
    }
}

GlobalClock::~GlobalClock() {
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
    if (machine_ != MPI_COMM_NULL) MPI_Comm_free(&machine_);
}

double GlobalClock::local() const {
    const double raw = monotonic_seconds();
    return raw + skew_ + drift_ * (raw - first_);
}

double GlobalClock::true_error() const {
    const double before = monotonic_seconds(), middle = now(), after = monotonic_seconds();
    return std::max(std::abs(middle - (before + after) / 2) - (after - before) / 2, 0.0);
}

void GlobalClock::wait_until(double due, bool crowded) const {
    for (;;) {
        const double left = due - now();
        if (left <= 0) return;
        const double asleep = crowded ? left : left - polling;
        if (asleep > 0) sleep_seconds(asleep);
    }
}

void GlobalClock::refresh() {
    if (!shared_) learn_point();
}

/// One more point for every machine, parents first: they answer with the global time that they know.
void GlobalClock::learn_point() {
    if (leaders_ != MPI_COMM_NULL) {
        int rank = 0, size = 1;
        MPI_Comm_rank(leaders_, &rank);
        MPI_Comm_size(leaders_, &size);
        for (int distance = 1; distance < size; distance *= 2) {
            if (rank < distance && rank + distance < size) answer(rank + distance);
            if (rank < distance || rank >= 2 * distance) continue;
            const Point point = ask(rank - distance);
            double parent_error = 0;
            MPI_Recv(&parent_error, 1, MPI_DOUBLE, rank - distance, clock_tag, leaders_, MPI_STATUS_IGNORE);
            take(point, parent_error);
        }
    }
    const Messages messages(machine_, true);
    messages.broadcast(&model_, sizeof model_);
}

void GlobalClock::answer(int child) {
    for (int exchange = 0; exchange < exchanges; ++exchange) {
        MPI_Recv(nullptr, 0, MPI_BYTE, child, clock_tag, leaders_, MPI_STATUS_IGNORE);
        const double time = now();
        MPI_Send(&time, 1, MPI_DOUBLE, child, clock_tag, leaders_);
    }
    MPI_Send(&model_.error, 1, MPI_DOUBLE, child, clock_tag, leaders_);
}

GlobalClock::Point GlobalClock::ask(int parent) const {
    Point best{0, 0, HUGE_VAL};
    for (int exchange = 0; exchange < exchanges; ++exchange) {
        double time = 0;
        const double sent = local();
        MPI_Send(nullptr, 0, MPI_BYTE, parent, clock_tag, leaders_);
        MPI_Recv(&time, 1, MPI_DOUBLE, parent, clock_tag, leaders_, MPI_STATUS_IGNORE);
        const double received = local(), middle = sent + (received - sent) / 2;
        if (received - sent < 2 * best.half_round_trip) best = {middle, time - middle, (received - sent) / 2};
    }
    return best;
}

/// Least squares over the remembered points, weighted by how quick the exchange was.
void GlobalClock::take(const Point& point, double parent_error) {
    if (points_.size() >= 2) {
        // How wrong the model has become since the last point, as far as that can be told.
        const double missed = std::abs(global(point.local) - (point.local + point.offset));
        model_.error = std::max(0.5 * model_.error, parent_error + missed + point.half_round_trip);
    }
    if (points_.size() == remembered_points) points_.erase(points_.begin());
    points_.push_back(point);
    double weights = 0, mean_time = 0, mean_offset = 0;
    for (const Point& each : points_) {
        const double weight = 1 / (each.half_round_trip * each.half_round_trip);
        weights += weight;
        mean_time += weight * (each.local - point.local);
        mean_offset += weight * (each.offset - point.offset);
    }
    mean_time /= weights;
    mean_offset /= weights;
    double covariance = 0, variance = 0;
    for (const Point& each : points_) {
        const double weight = 1 / (each.half_round_trip * each.half_round_trip);
        const double time = each.local - point.local - mean_time;
        covariance += weight * time * (each.offset - point.offset - mean_offset);
        variance += weight * time * time;
    }
    model_.origin = point.local + mean_time;
    model_.offset = point.offset + mean_offset;
    model_.drift = variance > 0 ? covariance / variance : 0;
}

}  // namespace rondo::bench
