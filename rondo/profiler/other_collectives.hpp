// SPDX-License-Identifier: BSD-3-Clause
// Collectives that Rondo does not serve, but profiles: a line each, as in rondo/backends/mpi/wrapped_functions.hpp,
// from which those come that it serves. Nonblocking forms and large counts go along with both. The build reads this
// file.
#pragma once

// clang-format off
#define RONDO_OTHER_COLLECTIVES(FUNCTION)                                             \
    FUNCTION(Alltoallw, alltoallw, EXCHANGING_TYPES, everywhere)                      \
    FUNCTION(Neighbor_allgather, neighbor_allgather, GATHERING, everywhere)           \
    FUNCTION(Neighbor_allgatherv, neighbor_allgather, GATHERING_PARTS, everywhere)    \
    FUNCTION(Neighbor_alltoall, neighbor_alltoall, EXCHANGING, everywhere)            \
    FUNCTION(Neighbor_alltoallv, neighbor_alltoall, EXCHANGING_PARTS, everywhere)     \
    FUNCTION(Neighbor_alltoallw, neighbor_alltoall, EXCHANGING_TYPES, everywhere)
// clang-format on

#define RONDO_EXCHANGING_TYPES(EACH)                                                                           \
    EACH(input), EACH(input_counts), EACH(input_displacements), EACH(input_types), EACH(output), EACH(counts), \
        EACH(displacements), EACH(types), EACH(comm)
