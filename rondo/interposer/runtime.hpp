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

/// Returns what Rondo knows of this process; nullptr while Rondo is disabled here: it is switched off, the MPI library
/// is of another ABI, or MPI is not initialised. `caller` is an address in the code that called MPI.
const Runtime* runtime(const void* caller);

/// Agrees with all ranks on what Rondo does, at the end of MPI_Init: communicates.
void agree(const void* caller);

/// Returns what `runtime` returns, for changing its instructions, which no thread may be reading.
Runtime* runtime_to_instruct(const void* caller);

/// The library's functions, also when Rondo is disabled; nullptr, with one warning, if the library has another ABI.
const mpi::Library* connected_library(const void* caller);

using mpi::warn;

}  // namespace rondo::interposer
