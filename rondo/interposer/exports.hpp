// SPDX-License-Identifier: BSD-3-Clause
// Between the exported symbols and what serves them: arguments as machine words, so that a call for an MPI library of
// another ABI can be handed on with every bit.
#pragma once

#include <cstdint>

namespace rondo::interposer {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

/// The arguments that some collective has. A single buffer is input and output.
struct Words {
    Word input = 0, output = 0, count = 0, datatype = 0, op = 0, root = 0, comm = 0;
};

// Serve a call, by Rondo or by the library. `caller`: an address in the code that called.
#define RONDO_SERVING(collective)                               \
    int collective(const Words& arguments, const void* caller); \
    int collective##_c(const Words& arguments, const void* caller);
RONDO_SERVING(bcast)
RONDO_SERVING(exscan)
RONDO_SERVING(reduce)
RONDO_SERVING(scan)
#undef RONDO_SERVING

/// Who must have calls of this exported name instead, with the same arguments; nullptr if Rondo serves them:
/// - for an MPI_ name, a tool (profiler) beneath Rondo, which has to see the program's call; it comes back by the PMPI_
///   name;
/// - the library's own function, if the library is of another ABI.
void* detour(const char* name, const void* caller);

}  // namespace rondo::interposer
