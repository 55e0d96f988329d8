// SPDX-License-Identifier: BSD-3-Clause
// Which ranks measure. Programs split communicators, so parts of the ranks matter, too.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace rondo::bench {

enum class Part : std::int8_t {
    all,
    half,     ///< the first half
    node,     ///< those on the node of rank 0
    leaders,  ///< one of each node
};

std::optional<Part> find_part(const std::string& name);

/// Has rank 0 as rank 0; MPI_COMM_NULL on ranks that have no part. Collective over MPI_COMM_WORLD.
MPI_Comm communicator_of(Part part);

/// Until all ranks are here: those without a part leave their processors to the others. By messages, not by a
/// nonblocking barrier: only the ranks with a part know which algorithm is chosen for barriers.
void wait_for_all();

}  // namespace rondo::bench
