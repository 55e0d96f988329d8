// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init and MPI_Init_thread: when they are over, all ranks agree on what Rondo does, before the program can call
// anything else.
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/words.hpp"

namespace rondo::interposer {
namespace {

int start(const mpi::Library& library, int* count, char*** arguments) { return library.Init(count, arguments); }
int start(const mpi::Library& library, int* count, char*** arguments, int required, int* provided) {
    return library.Init_thread(count, arguments, required, provided);
}

/// Initialises MPI. The functions of a library of another ABI, or of a tool, are found as for collectives.
template <class... Arguments>
int initialise(const char* symbol, const void* caller, Arguments... arguments) {
    void* const other = detour(symbol, caller);
    if (other != nullptr) return reinterpret_cast<int (*)(Arguments...)>(other)(arguments...);
    const mpi::Library* library = connected_library(caller);
    if (library == nullptr) return 1;  // a warning was given; there is no MPI
    const int error = start(*library, arguments...);
    if (error == MPI_SUCCESS) agree(caller);
    return error;
}

}  // namespace
}  // namespace rondo::interposer

using rondo::interposer::initialise;

#define RONDO_EXPORT extern "C" [[gnu::visibility("default")]]

RONDO_EXPORT int MPI_Init(int* argc, char*** argv) {
    return initialise("MPI_Init", __builtin_return_address(0), argc, argv);
}

RONDO_EXPORT int PMPI_Init(int* argc, char*** argv) {
    return initialise("PMPI_Init", __builtin_return_address(0), argc, argv);
}

RONDO_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise("MPI_Init_thread", __builtin_return_address(0), argc, argv, required, provided);
}

RONDO_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise("PMPI_Init_thread", __builtin_return_address(0), argc, argv, required, provided);
}
