// SPDX-License-Identifier: BSD-3-Clause
// Whether all ranks of MPI_COMM_WORLD have Rondo. A rank may have none: another program of the same job, a node whose
// ranks were not given the preload, a rank for which it is switched off. The others must not wait for it for ever.
#pragma once

#include <span>

namespace rondo::mpi {

/// Ranks may ask for so many values at once.
inline constexpr int most_asked = 16;

/// Replaces each value by the least over all ranks of MPI_COMM_WORLD, if all of them call this within ten seconds.
/// False on all ranks if they do not, and on this one if the library could not tell. Called once, in MPI_Init, before
/// anything else is sent.
[[nodiscard]] bool call_roll(std::span<long long> values);

}  // namespace rondo::mpi
