// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace rondo::mpi {

/// Returns what to tell the user if a launcher has started several processes together and each is a world of one rank,
/// because the launcher speaks with another MPI library than theirs (`version` names theirs). One of the processes gets
/// the text, the others an empty one. So do all if nothing is known of launchers. Called after MPI_Init.
std::string complaint_of_lone_world(const std::string& version);

}  // namespace rondo::mpi
