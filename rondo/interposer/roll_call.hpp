// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/mpi/library.hpp"

namespace rondo::interposer {

/// Before a timed call the ranks of a communicator come together. True on all of them or on none: all are here, and all
/// are `ready`. Where the call itself does not make every rank wait for every other, programs may rely on it that a
/// rank goes on while others are not there yet, though MPI forbids that. So nobody waits for more than a second then.
bool roll_call(MPI_Comm comm, bool ready, bool call_waits_for_all);

}  // namespace rondo::interposer
