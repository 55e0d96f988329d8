// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: the program makes a request once (MPI_Bcast_init), and starts it again and again.
#pragma once

#include <memory>

#include "rondo/backends/mpi/pending_call.hpp"

namespace rondo::mpi {

/// Makes the communicator that persistent calls need. Called in MPI_Init where several threads will call MPI: later
/// another one may be using MPI_COMM_SELF. Else the first persistent call makes it.
void prepare_persistent_calls();

/// Makes a persistent call, which `request` stands for from then on. `number`: that of its communicator. Returns an MPI
/// error code; throws std::bad_alloc.
int make_persistent(std::unique_ptr<PendingCall> call, std::uint32_t number, MPI_Request* request);

// MPI_Start, MPI_Startall and MPI_Request_free, for requests of persistent calls and for all others.
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
int free_request(MPI_Request* request);

/// Ends all persistent calls that the program has not freed, in MPI_Finalize.
void end_persistent_calls();

}  // namespace rondo::mpi
