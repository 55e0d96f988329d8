// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace rondo::mpi {

/// Calls `act` in MPI_Finalize, before the library ends anything, and after all that the program does there by the same
/// means. Called once, after MPI_Init and `connect`. `act` is never called if the library refuses.
void at_end(void (*act)());

}  // namespace rondo::mpi
