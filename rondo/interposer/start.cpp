// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init and MPI_Init_thread: when they are over, all ranks agree on what Rondo does, before the program can call
// anything else.
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/words.hpp"

namespace rondo::interposer {
namespace {

using Init = int (*)(int*, char***);
using InitThread = int (*)(int*, char***, int, int*);

int start(const mpi::Library& library, int* count, char*** arguments) { return library.Init(count, arguments); }
int start(const mpi::Library& library, int* count, char*** arguments, int required, int* provided) {
    return library.Init_thread(count, arguments, required, provided);
}

template <class... Arguments>
int initialise(const void* caller, Arguments... arguments) {
    const mpi::Library* library = connected_library(caller);
    if (library == nullptr) return 1;  // said; there is no MPI
    const int error = start(*library, arguments...);
    if (error == MPI_SUCCESS) agree(caller);
    return error;
}

}  // namespace
}  // namespace rondo::interposer

// The functions for a library of another ABI, or a tool, are found as for collectives.
#define RONDO_EXPORT_START(name, Function, parameters, ...)                                          \
    extern "C" __attribute__((visibility("default"))) int name parameters {                          \
        const void* caller = __builtin_return_address(0);                                            \
        static const auto other =                                                                    \
            reinterpret_cast<rondo::interposer::Function>(rondo::interposer::detour(#name, caller)); \
        if (other != nullptr) return other(__VA_ARGS__);                                             \
        return rondo::interposer::initialise(caller, __VA_ARGS__);                                   \
    }

RONDO_EXPORT_START(MPI_Init, Init, (int* count, char*** arguments), count, arguments)
RONDO_EXPORT_START(PMPI_Init, Init, (int* count, char*** arguments), count, arguments)
RONDO_EXPORT_START(MPI_Init_thread, InitThread, (int* count, char*** arguments, int required, int* provided), count,
                   arguments, required, provided)
RONDO_EXPORT_START(PMPI_Init_thread, InitThread, (int* count, char*** arguments, int required, int* provided), count,
                   arguments, required, provided)
