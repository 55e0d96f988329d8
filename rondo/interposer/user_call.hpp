// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/division.hpp"

namespace rondo::interposer {

/// A call of a collective, as the user made it. Arguments that its function lacks are null.
struct UserCall {
    const void* input;  ///< or MPI_IN_PLACE; the same as the output where there is one buffer
    void* output;
    Count count;  ///< count of the vector, or of each rank's part; not significant where another rank has the vector
    mpi::Numbers counts;    ///< counts of each rank's part, instead
    MPI_Datatype datatype;  ///< type of the vector
    mpi::Datatypes types;   ///< type of each rank's part, instead
    MPI_Op op;
    Rank root;
    MPI_Comm comm;
    // Arguments of gathers to all and all-to-alls.
    Count input_count;
    MPI_Datatype input_type;
    mpi::Datatypes input_types;
    // Arguments of scatters and gathers to a root.
    Count part_count;  ///< count of this rank's part
    MPI_Datatype part_type;
    mpi::Numbers displacements;  ///< in bytes if each part has a type
    mpi::Numbers input_counts, input_displacements;
    MPI_Info info;         ///< of a persistent call
    MPI_Request* request;  ///< where the request of a nonblocking or persistent call goes
};

/// Where the output of a function is significant.
enum class Output : std::uint8_t {
    everywhere,
    after_rank_0,  ///< exclusive scans
    at_the_root,
    is_the_input,  ///< one buffer for both, everywhere
};

}  // namespace rondo::interposer
