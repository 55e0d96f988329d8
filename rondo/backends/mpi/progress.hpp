// SPDX-License-Identifier: BSD-3-Clause
// The MPI library's engine of progress, which calls Rondo while the program waits in whatever function of MPI: so a
// collective that the program has begun goes on although nobody asks for it. MPICH has a function for this
// (MPIX_Async_start), Open MPI's own nonblocking collectives use one that it exports (opal_progress_register).
#pragma once

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

class PendingCall;

/// Finds the engine. Called once, after `connect`.
void find_progress_engine();
/// True if the library has such an engine.
bool has_progress_engine();
/// Has the engine call `poll()` until that is true.
void progress_with_library(PendingCall& call);
/// Lets the library go on with all that is under way, and gives up the processor. Not for use inside its engine.
void let_library_go_on();
/// MPI_Waitall, also where MPICH ends the program: see progress.cpp.
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
/// Takes Rondo out of the engine, in MPI_Finalize.
void leave_progress_engine();

}  // namespace rondo::mpi
