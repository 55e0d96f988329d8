// SPDX-License-Identifier: BSD-3-Clause
// <mpi.h> without a single undefined symbol: functions come from `library()`, and where an ABI makes its constants
// addresses of variables, these are looked up by name.
#pragma once

#include <mpi.h>

#ifndef RONDO_ABI_NAME
#error "build through cmake/MpiAbis.cmake: once per MPI ABI"
#endif

namespace rondo::mpi {

/// The address of a variable of the MPI library. Called only after `connect` succeeded; a slow look-up, so keep the
/// result.
void* library_variable(const char* name);

}  // namespace rondo::mpi

#ifdef RONDO_ABI_OPENMPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::rondo::mpi::library_variable(#global)))
#endif
