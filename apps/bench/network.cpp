// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "clock.hpp"
#include "testbed/control.hpp"

namespace rondo::bench {
namespace {

constexpr int network_tag = 4;
constexpr int round_trips = 10, least_round_trips = 3;  // of each size, of which the quickest counts,
constexpr double time_of_size = 1;                      // as many as that and these seconds allow
// Seconds, and times the shortest message: larger messages would take too long. A length at least must lie beyond the
// handshake of long messages, which takes two latencies more.
constexpr double longest_one_way = 0.03, longest_in_latencies = 5;
constexpr int largest_message = 1 << 20;
constexpr int attempts = 3;             // to get a good line,
constexpr double time_of_attempts = 5;  // if these seconds are not over: slow networks suffer less from chance
// A late packet makes what it is part of later by no more than its lateness; all of them may add up.
constexpr double tolerated_lateness = 0.1;   // in the mean and at worst, of the latency,
constexpr double least_latency = 100e-6;     // or of this if it is less;
constexpr double tolerated_at_worst = 0.01;  // or, at worst, of the time that was measured if that is more

/// One way, the quickest. The partner is told before each round trip how it goes on: by the size, 0 ends.
double one_way(MPI_Comm comm, int partner, std::vector<char>& buffer, int bytes) {
    double quickest = HUGE_VAL;
    const double began = monotonic_seconds();
    for (int i = 0; i < round_trips && (i < least_round_trips || monotonic_seconds() - began < time_of_size); ++i) {
        const double start = monotonic_seconds();
        MPI_Send(buffer.data(), bytes, MPI_BYTE, partner, network_tag, comm);
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, partner, network_tag, comm, MPI_STATUS_IGNORE);
        quickest = std::min(quickest, (monotonic_seconds() - start) / 2);
    }
    return quickest;
}

/// Sends back whatever rank 0 sends, until that is empty.
void echo(MPI_Comm comm, std::vector<char>& buffer) {
    for (;;) {
        MPI_Status status;
        MPI_Recv(buffer.data(), largest_message, MPI_BYTE, 0, network_tag, comm, &status);
        int bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        if (bytes == 0) return;
        MPI_Send(buffer.data(), bytes, MPI_BYTE, 0, network_tag, comm);
    }
}

}  // namespace

Line fitted_line(MPI_Comm comm, int partner) {
    std::vector<char> buffer(largest_message);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0) {
        echo(comm, buffer);
        return {};
    }
    one_way(comm, partner, buffer, 1);  // connects
    Line best{.residual = HUGE_VAL};
    const double began = monotonic_seconds();
    const auto goes_on = [&](int attempt) { return attempt == 0 || monotonic_seconds() - began < time_of_attempts; };
    for (int attempt = 0; attempt < attempts && !is_good(best) && goes_on(attempt); ++attempt) {
        std::vector<double> sizes, seconds;
        for (int bytes = 1; bytes <= largest_message; bytes *= 4) {
            sizes.push_back(bytes);
            seconds.push_back(one_way(comm, partner, buffer, bytes));
            if (seconds.back() > std::max(longest_one_way, longest_in_latencies * seconds.front())) break;
        }
        const Line line = best_fit(sizes, seconds);
        if (line.residual < best.residual) best = line;
    }
    MPI_Send(nullptr, 0, MPI_BYTE, partner, network_tag, comm);
    return best;
}

EmulatedCluster::EmulatedCluster() {
    const char* directory = std::getenv(testbed::directory_variable);
    if (directory == nullptr) return;
    const std::string path = std::string(directory) + "/" + testbed::control_file;
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* page = mmap(nullptr, sizeof(testbed::Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) return;
    auto* control = static_cast<testbed::Control*>(page);
    if (control->magic == testbed::control_magic && control->size == sizeof(testbed::Control)) control_ = control;
    dropped_before_ = dropped();
}

void EmulatedCluster::watch() {
    if (control_ == nullptr) return;
    packets_before_ = control_->packets;
    lateness_before_ = control_->lateness_sum_ns;
    control_->worst_lateness_ns = 0;
}

Lateness EmulatedCluster::lateness() const {
    if (control_ == nullptr) return {};
    const auto packets = static_cast<double>(std::max<std::uint64_t>(control_->packets - packets_before_, 1));
    return {.worst = 1e-9 * static_cast<double>(control_->worst_lateness_ns),
            .mean = 1e-9 * static_cast<double>(control_->lateness_sum_ns - lateness_before_) / packets};
}

bool EmulatedCluster::disturbed(const Lateness& lateness, double seconds) const {
    if (control_ == nullptr) return false;
    const double latency = 1e-9 * static_cast<double>(control_->latency_ns.load());
    const double tolerated = tolerated_lateness * std::max(latency, least_latency);
    return lateness.mean > tolerated || lateness.worst > std::max(tolerated, tolerated_at_worst * seconds);
}

std::int64_t EmulatedCluster::dropped() const {
    return control_ != nullptr ? static_cast<std::int64_t>(control_->dropped) - dropped_before_ : 0;
}

}  // namespace rondo::bench
