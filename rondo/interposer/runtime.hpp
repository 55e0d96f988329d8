// SPDX-License-Identifier: BSD-3-Clause
// Rondo in this process: set up at the first call that might concern it.
#pragma once

#include <cstdint>
#include <string>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/backends/mpi/warn.hpp"
#include "rondo/interposer/instructions.hpp"

namespace rondo::interposer {

struct Runtime {
    Instructions instructions;
    MpiLibrary library = MpiLibrary::other;
    std::string library_version;  ///< "MPICH Version 5.0.2"
    bool reporting = false;
};

/// nullptr while Rondo has nothing to do with this process: it is switched off, the MPI library is of another ABI, or
/// MPI is not initialised. `caller` is an address in the code that called MPI.
const Runtime* runtime(const void* caller);

/// At the end of MPI_Init, on all ranks: it communicates.
void agree(const void* caller);

/// As `runtime`, to change its instructions, which no thread may be reading.
Runtime* runtime_to_instruct(const void* caller);

/// The library's functions, also when Rondo has nothing to do. nullptr if the library has another ABI (said once).
const mpi::Library* connected_library(const void* caller);

using mpi::warn;

}  // namespace rondo::interposer
