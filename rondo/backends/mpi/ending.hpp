// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace rondo::mpi {

/// Calls `act` in MPI_Finalize, before the library takes anything down, and behind all that the program does there by
/// the same means. Once, after MPI_Init and `connect`. Never where the library refuses.
void at_end(void (*act)());

}  // namespace rondo::mpi
