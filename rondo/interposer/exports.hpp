// SPDX-License-Identifier: BSD-3-Clause
// Between the exported symbols and what serves them: arguments as machine words, so that a call for an MPI library of
// another ABI can be handed on with every bit.
#pragma once

#include <cstdint>
#include <optional>

#include "rondo/interposer/last_call.hpp"

namespace rondo::interposer {

/// The arguments that some collective has. A single buffer is input and output.
struct Words {
    Word input = 0, output = 0, count = 0, datatype = 0, op = 0, root = 0, comm = 0;
};

/// Those of functions whose vector has a part for each rank. `common` has what speaks of the output.
struct PartsWords {
    Words common;
    Word input_count = 0, input_type = 0;
    std::optional<Word> counts = {}, displacements = {};  // of the functions that have them
};

// Serve a call, by Rondo or by the library. `caller`: an address in the code that called. `last`: has the call's words,
// what is known of the last call with them, and learns if the next one needs no second look.
#define RONDO_SERVING(function, Arguments)                                        \
    int function(const Arguments& arguments, const void* caller, LastCall& last); \
    int function##_c(const Arguments& arguments, const void* caller, LastCall& last);
RONDO_SERVING(allgather, PartsWords)
RONDO_SERVING(allgatherv, PartsWords)
RONDO_SERVING(allreduce, Words)
RONDO_SERVING(bcast, Words)
RONDO_SERVING(exscan, Words)
RONDO_SERVING(reduce, Words)
RONDO_SERVING(reduce_scatter, PartsWords)
RONDO_SERVING(reduce_scatter_block, PartsWords)
RONDO_SERVING(scan, Words)
#undef RONDO_SERVING

/// Who must have calls of this exported name instead, with the same arguments; nullptr if Rondo serves them:
/// - for an MPI_ name, a tool (profiler) beneath Rondo, which has to see the program's call; it comes back by the PMPI_
///   name;
/// - the library's own function, if the library is of another ABI.
void* detour(const char* name, const void* caller);

}  // namespace rondo::interposer
