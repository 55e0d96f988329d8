// SPDX-License-Identifier: BSD-3-Clause
// Arguments of MPI functions as the exported symbols take them. Without <mpi.h>.
#pragma once

#include <cstdint>

namespace rondo::mpi {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

/// A handle without unused upper bits.
#ifdef RONDO_ABI_MPICH
using HandleWord = std::uint32_t;  // handles are ints
#else
using HandleWord = std::uintptr_t;
#endif

}  // namespace rondo::mpi
