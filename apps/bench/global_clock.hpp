// SPDX-License-Identifier: BSD-3-Clause
// One clock for all ranks: that of rank 0. Processes of one machine share a clock. Between machines every rank learns a
// linear model of its clock against its parent's in a tree, in the manner of HCA3 (Hunold and Carpen-Amarie,
// "Hierarchical clock synchronization in MPI", CLUSTER 2018), and keeps learning while the measurement goes on.
#pragma once

#include <mpi.h>

#include <vector>

#include "messages.hpp"

namespace rondo::bench {

struct ClockOptions {
    bool learned = false;  ///< learn also between processes of one machine
    double skew = 0;       ///< artificial, to test the learning: clocks differ by at most this many seconds,
    double drift = 0;      ///< and run at rates that differ by at most this
};

class GlobalClock {
  public:
    /// `machines`: for every rank the number of its machine. Collective over `comm`, which the clock uses from then on.
    GlobalClock(MPI_Comm comm, const std::vector<int>& machines, const ClockOptions& options);

    GlobalClock(const GlobalClock&) = delete;
    GlobalClock& operator=(const GlobalClock&) = delete;
    ~GlobalClock();

    /// Seconds; the same on all ranks but for `error()`.
    [[nodiscard]] double now() const { return shared_ ? local() : global(local()); }
    /// Waits until `now()` is `due`. Sleeps, and polls for the last moment unless ranks are to leave the core to
    /// others.
    void wait_until(double due, bool crowded) const;

    [[nodiscard]] bool shared() const { return shared_; }
    /// Measures once more, if clocks are learned; all ranks together.
    void refresh();
    /// Bound on the difference of this rank's `now()` from that of rank 0, by what was measured since the second
    /// measurement. 0 for a shared clock.
    [[nodiscard]] double error() const { return shared_ ? 0 : model_.error; }
    /// Where clocks are skewed artificially: the real difference, known because the machine's clock is one.
    [[nodiscard]] double true_error() const;

  private:
    /// global = local + offset + drift * (local - origin)
    struct Model {
        double origin = 0, offset = 0, drift = 0, error = 0;
    };
    struct Point {
        double local, offset, half_round_trip;
    };

    [[nodiscard]] double local() const;
    [[nodiscard]] double global(double local) const {
        return local + model_.offset + model_.drift * (local - model_.origin);
    }
    void learn_point();
    void answer(int child);
    [[nodiscard]] Point ask(int parent) const;
    void take(const Point& point, double parent_error);

    bool shared_ = true;
    double skew_ = 0, drift_ = 0, first_ = 0;
    MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank of each machine
    MPI_Comm machine_ = MPI_COMM_NULL;
    Model model_;
    std::vector<Point> points_;
};

}  // namespace rondo::bench
