// SPDX-License-Identifier: BSD-3-Clause
// The functions of requests that persistent collectives need: MPI_Start, MPI_Startall, MPI_Request_free.
#include "rondo/backends/mpi/persistent_call.hpp"
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/words.hpp"

#define RONDO_EXPORT extern "C" [[gnu::visibility("default")]]

// A function with both its names. The functions of a library of another ABI, or of a tool, are found as for
// collectives.
#define RONDO_REQUEST_FUNCTION(symbol, carry_out, parameters, arguments)                                          \
    RONDO_EXPORT int symbol parameters {                                                                          \
        static const auto other =                                                                                 \
            reinterpret_cast<int(*) parameters>(rondo::interposer::detour(#symbol, __builtin_return_address(0))); \
        return other != nullptr ? other arguments : rondo::mpi::carry_out arguments;                              \
    }

RONDO_REQUEST_FUNCTION(MPI_Start, start, (MPI_Request * request), (request))
RONDO_REQUEST_FUNCTION(PMPI_Start, start, (MPI_Request * request), (request))
RONDO_REQUEST_FUNCTION(MPI_Startall, start_all, (int count, MPI_Request* requests), (count, requests))
RONDO_REQUEST_FUNCTION(PMPI_Startall, start_all, (int count, MPI_Request* requests), (count, requests))
RONDO_REQUEST_FUNCTION(MPI_Request_free, free_request, (MPI_Request * request), (request))
RONDO_REQUEST_FUNCTION(PMPI_Request_free, free_request, (MPI_Request * request), (request))
