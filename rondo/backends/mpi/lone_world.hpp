// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace rondo::mpi {

/// Of several processes that a launcher has started together, each may be a world of one rank: the launcher speaks with
/// another MPI library than theirs. Says so in one of them, with the name of the library (`version`); empty in all
/// others, and where nothing is known of it. After MPI_Init.
std::string complaint_of_lone_world(const std::string& version);

}  // namespace rondo::mpi
