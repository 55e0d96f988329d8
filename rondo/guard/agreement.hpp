// SPDX-License-Identifier: BSD-3-Clause
// How ranks of a communicator wait for each other before calls that are compared, and agree on what these took.
#pragma once

#include <span>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/guard/site.hpp"

namespace rondo::guard {

/// Waits before timed calls, or after them, for the ranks of a communicator, `comm`. Returns the same on all of them.
/// Where the call itself does not make every rank wait for every other, programs may rely on it that a rank goes on
/// while others are not there yet, though MPI forbids that. So nobody waits for more than a second then, and after
/// three such seconds not at all. Nothing stays under way on `comm`. If all have come, the times, at most
/// `Trial::most_values`, become those of the slowest rank.
Attendance timed_barrier(const mpi::Communicator& communicator, MPI_Comm comm, bool ready, bool call_waits_for_all,
                         std::span<float> times);

/// Replaces the times by those of the slowest rank of `comm`. False if the library has failed.
bool exchange_times(MPI_Comm comm, std::span<float> times);

}  // namespace rondo::guard
