// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {

/// A call of a reducing collective without a root, as the user made it.
struct PrefixCall {
    const void* input;  ///< or MPI_IN_PLACE
    void* output;
    Count count;
    MPI_Datatype datatype;
    MPI_Op op;
    MPI_Comm comm;
};

/// A function that is wrapped.
struct Wrapped {
    std::size_t collective;  ///< index in the registry
    bool output_on_rank_0;   ///< false: the output of rank 0 means nothing (exclusive scans)
    /// The library's own, with the arguments of a call.
    int (*native)(const mpi::Library& library, const PrefixCall& call);
};

/// Carries out a call, by an algorithm of Rondo or by the library. Returns what the MPI function returns, after the
/// user's error handler has had its say.
int serve(const Wrapped& function, const PrefixCall& call, const void* caller);

/// Counts calls that went to the library's own function: since when, `forget_left_calls` says.
void forget_left_calls(std::size_t collective);
std::uint64_t left_calls(std::size_t collective);
/// Why the last of them did; lives for ever.
const char* reason_of_left_call(std::size_t collective);

/// The index of a registered collective.
std::size_t index_of(std::string_view collective);

}  // namespace rondo::interposer
