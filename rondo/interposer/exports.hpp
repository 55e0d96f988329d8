// SPDX-License-Identifier: BSD-3-Clause
// Between the exported symbols and what serves them: arguments as machine words, so that a call for an MPI library of
// another ABI can be handed on with every bit.
#pragma once

#include <cstdint>

namespace rondo::interposer {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

struct PrefixArguments {
    Word input, output, count, datatype, op, comm;
};

// Serve a call, by Rondo or by the library. `caller`: an address in the code that called.
int scan(const PrefixArguments& words, const void* caller);
int exscan(const PrefixArguments& words, const void* caller);
int scan_c(const PrefixArguments& words, const void* caller);
int exscan_c(const PrefixArguments& words, const void* caller);

/// Who must have calls of this exported name instead, with the same arguments; nullptr if Rondo serves them:
/// - for an MPI_ name, a tool (profiler) beneath Rondo, which has to see the program's call; it comes back by the PMPI_
///   name;
/// - the library's own function, if the library is of another ABI.
void* detour(const char* name, const void* caller);

}  // namespace rondo::interposer
