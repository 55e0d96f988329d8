// SPDX-License-Identifier: BSD-3-Clause
// Stands for a program that computes while a collective goes on.
#pragma once

#include <mpi.h>

namespace rondo::bench {

class Computing {
  public:
    /// `sleeps`: ranks share processors, which belong to others while this rank would compute on one of its own. Else
    /// this takes some milliseconds: it finds out how fast the processor is.
    explicit Computing(bool sleeps);

    /// Computes for so many seconds, in so many pieces, or fewer if they were shorter than a microsecond, with an
    /// MPI_Test after each until the request is complete. What MPI_Test takes comes on top.
    void run(double seconds, int pieces, MPI_Request& request) const;

    /// How, for the records.
    [[nodiscard]] const char* way() const { return sleeps_ ? "sleep" : "loop"; }

  private:
    /// The next piece, until there are so many seconds of them. Returns how many there are.
    [[nodiscard]] double until(double seconds, double done) const;

    using ForgetPolls = void (*)();

    bool sleeps_;
    double steps_per_second_;
    ForgetPolls forget_polls_;  ///< of the emulated cluster (testbed/patience.c), so that no MPI_Test waits there
};

}  // namespace rondo::bench
