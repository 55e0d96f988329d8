// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "rondo/interposer/call_cache.hpp"
#include "rondo/interposer/runtime.hpp"
#include "rondo/interposer/user_call.hpp"

namespace rondo::interposer {

/// When a function returns.
enum class Form : std::uint8_t {
    blocking,
    nonblocking,  ///< at once, with a request (MPI_I...)
    persistent,   ///< at once, with a request by which the program starts the call again and again (MPI_..._init)
};

/// The names that reports give to the forms.
inline constexpr std::string_view names_of_forms[] = {"", "nonblocking", "persistent"};

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
