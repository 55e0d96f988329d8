// SPDX-License-Identifier: BSD-3-Clause
// The roll call in MPI_Init, where a rank may have no Rondo: another program of the same job, a node whose ranks were
// not given the preload, a rank for which it is switched off.
#pragma once

#include <span>

#include "rondo/backends/mpi/roll_call.hpp"

namespace rondo::mpi {

/// Replaces each value by the least over all ranks of MPI_COMM_WORLD, if all of them call this within ten seconds. The
/// roll is not complete on any rank if they do not, and on this one if the library could not tell. `ranks`: all of
/// them; `rank`: this one. But with Open MPI, `hears_lower_ranks` is a guess. Called once, in MPI_Init, before anything
/// else is sent. See docs/decisions/0051.
[[nodiscard]] Roll call_roll_of_world(std::span<const Rank> ranks, Rank rank, std::span<long long> values);

/// A clause that says what may still fail in a job after its roll call if some ranks have no Rondo.
extern const char* const harm_of_missing_ranks;

}  // namespace rondo::mpi
