// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rondo/backends/mpi/communicator.hpp"

namespace rondo::interposer {

/// In the order in which one rank's answer outweighs another's.
enum class Attendance : std::uint8_t { not_all_here, not_all_ready, all_ready };

/// Before a timed call the ranks of a communicator, `comm`, come together. The same on all of them. Where the call
/// itself does not make every rank wait for every other, programs may rely on it that a rank goes on while others are
/// not there yet, though MPI forbids that. So nobody waits for more than a second then, and after three such seconds
/// not at all. Nothing stays under way on `comm`.
Attendance timed_barrier(const mpi::Communicator& communicator, MPI_Comm comm, bool ready, bool call_waits_for_all);

/// In MPI_Finalize: what others have said, or say within a second, is heard to its end. What comes later is left to the
/// library.
void end_timed_barriers();

}  // namespace rondo::interposer
