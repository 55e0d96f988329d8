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

/// The library's own collective, with the arguments of a call: a function and what it needs to know.
struct NativeCall {
    int (*function)(const mpi::Library& library, const PrefixCall& call);
};

/// Carries out a call, by an algorithm of Rondo or by the library. `collective` is its index in the registry. Returns
/// what the MPI function returns, after the user's error handler has had its say.
int serve(std::size_t collective, const PrefixCall& call, NativeCall native, const void* caller);

/// The index of a registered collective.
std::size_t index_of(std::string_view collective);

}  // namespace rondo::interposer
