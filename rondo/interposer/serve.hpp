// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/call_cache.hpp"
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/user_call.hpp"

namespace rondo::interposer {

using mpi::Form;

/// A function that is wrapped.
struct Wrapped {
    /// The library's own function, called with the arguments of a call.
    using Native = int (*)(const mpi::Library& library, const UserCall& call);

    /// The address of the library's own function, which is null if the library lacks it.
    using Address = void* (*)(const mpi::Library& library);

    Wrapped(std::string_view collective_name, Output where, Form when, Native library_function, Address address_of_it);

    std::size_t collective;  ///< index in the registry
    Traits has;
    Output output;
    Form form;
    Native native;
    Address address;
};

/// Carries out a call, by an algorithm of Rondo or by the library. Returns what the MPI function returns, after the
/// user's error handler was called.
int serve(const Wrapped& function, const UserCall& call, const void* caller, CachedCall& cached);

}  // namespace rondo::interposer
