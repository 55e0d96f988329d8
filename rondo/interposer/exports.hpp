// SPDX-License-Identifier: BSD-3-Clause
// Between the exported symbols and what serves them: arguments as machine words, so that a call for an MPI library of
// another ABI can be handed on with every bit.
#pragma once

#include <cstdint>
#include <optional>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/last_call.hpp"

namespace rondo::interposer {

/// The arguments of a call by their names in wrapped_functions.hpp.
struct Words {
    Word input = 0, input_count = 0;
    std::optional<Word> input_counts = {}, input_displacements = {};
    Word input_type = 0, part_count = 0, buffer = 0, output = 0, count = 0;
    std::optional<Word> part_type = {}, counts = {}, displacements = {};
    Word datatype = 0, op = 0;
    std::optional<Word> root = {};
    Word comm = 0;

    /// True if what the whole vector is made of means something on the root alone.
    [[nodiscard]] constexpr bool is_whole_at_root() const { return part_type.has_value() && root.has_value(); }
};

// Serve a call, by Rondo or by the library. `caller`: an address in the code that called. `last`: has the call's words,
// what is known of the last call with them, and learns if the next one needs no second look.
#define RONDO_SERVING(function, ...)                                              \
    int serve_##function(const Words& words, const void* caller, LastCall& last); \
    int serve_##function##_c(const Words& words, const void* caller, LastCall& last);
RONDO_WRAPPED_FUNCTIONS(RONDO_SERVING)
RONDO_FUNCTIONS_WITHOUT_COUNT(RONDO_SERVING)
#undef RONDO_SERVING

/// Who must have calls of this exported name instead, with the same arguments; nullptr if Rondo serves them:
/// - for an MPI_ name, a tool (profiler) beneath Rondo, which has to see the program's call; it comes back by the PMPI_
///   name;
/// - the library's own function, if the library is of another ABI.
void* detour(const char* name, const void* caller);

}  // namespace rondo::interposer
