// SPDX-License-Identifier: BSD-3-Clause
// MPI_Start, MPI_Startall and MPI_Request_free, which know persistent collectives, MPI_Waitall, which knows nonblocking
// ones, and MPI_Op_free, which leaves operators alone that calls under way need.
#include "rondo/backends/mpi/kept_operators.hpp"
#include "rondo/backends/mpi/persistent_call.hpp"
#include "rondo/backends/mpi/progress.hpp"
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/words.hpp"

#define RONDO_EXPORT extern "C" [[gnu::visibility("default")]]

// A function with both its names. The functions of a library of another ABI, or of a tool, are found as for
// collectives.
#define RONDO_WRAPPED(symbol, carry_out, parameters, arguments)                                                   \
    RONDO_EXPORT int symbol parameters {                                                                          \
        static const auto other =                                                                                 \
            reinterpret_cast<int(*) parameters>(rondo::interposer::detour(#symbol, __builtin_return_address(0))); \
        return other != nullptr ? other arguments : rondo::mpi::carry_out arguments;                              \
    }

RONDO_WRAPPED(MPI_Start, start, (MPI_Request * request), (request))
RONDO_WRAPPED(PMPI_Start, start, (MPI_Request * request), (request))
RONDO_WRAPPED(MPI_Startall, start_all, (int count, MPI_Request* requests), (count, requests))
RONDO_WRAPPED(PMPI_Startall, start_all, (int count, MPI_Request* requests), (count, requests))
RONDO_WRAPPED(MPI_Request_free, free_request, (MPI_Request * request), (request))
RONDO_WRAPPED(PMPI_Request_free, free_request, (MPI_Request * request), (request))
RONDO_WRAPPED(MPI_Waitall, wait_all, (int count, MPI_Request* requests, MPI_Status* statuses),
              (count, requests, statuses))
RONDO_WRAPPED(PMPI_Waitall, wait_all, (int count, MPI_Request* requests, MPI_Status* statuses),
              (count, requests, statuses))
RONDO_WRAPPED(MPI_Op_free, free_operator, (MPI_Op * op), (op))
RONDO_WRAPPED(PMPI_Op_free, free_operator, (MPI_Op * op), (op))
