// SPDX-License-Identifier: BSD-3-Clause
// The functions that this library stands in front of: those that the libraries of the ABIs wrap, large counts and
// persistent forms included. The functions themselves are generated (scripts/generate_site.py).
#pragma once

#include <atomic>
#include <cstddef>

namespace rondo::site {

using Function = void (*)();

/// Their names, in alphabetical order.
extern const char* const names[];
extern const std::size_t number_of_names;
/// What is called in their place, by the number of the name: it calls `target` with its arguments.
extern const Function stand_ins[];

/// What carries out calls of a function; nullptr until all are known, at the first call of any.
inline constexpr std::size_t most_names = 512;
extern std::atomic<Function> targets[most_names];

/// What carries out this call. `caller`: an address in the code that called.
Function find_target(std::size_t function, const void* caller);

/// A function of include/rondo.h, in the library that has been loaded for this MPI; nullptr if none has.
void* of_rondo(const char* name);

/// What an object that was loaded later finds under the name of a function: the stand-in, or nothing where nothing in
/// this process defines it. Called by the loader.
Function found_later(std::size_t function);

}  // namespace rondo::site
