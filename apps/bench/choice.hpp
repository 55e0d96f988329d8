// SPDX-License-Identifier: BSD-3-Clause
// Which code serves the next call: Rondo's algorithms, if its library was preloaded, or the MPI library's own function.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace rondo::bench {

/// A function of any type.
using Function = void (*)();

/// The MPI library's own, also where something stands before it: what is called native costs what it costs natively.
/// nullptr if it has no function of this name.
Function library_function(const char* name);

/// The function that a program calls by this name: Rondo's, where it stands before the library's own. nullptr if there
/// is none.
Function program_function(const char* name);

/// Has Rondo serve calls of a collective by an algorithm from now on. Empty, or why it cannot.
std::string choose(const char* collective, const std::string& algorithm);

/// Rondo's messages inside nodes go through memory that their ranks share.
bool shares_memory();

/// Domains of one node to which the ranks of a communicator are bound, as far as Rondo knows; 1 if it knows of none.
int domains(MPI_Comm comm);

/// Calls that Rondo left to the library since `choose`, though an algorithm was chosen, and the last reason.
std::int64_t left_to_library(const char* collective, std::string& reason);

}  // namespace rondo::bench
