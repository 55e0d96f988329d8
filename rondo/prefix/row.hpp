// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "rondo/backends/mpi/datatype.hpp"

namespace rondo::prefix {

/// Neighbours in an element of the user's datatype.
struct Run {
    Count offset;   ///< in bytes, from the address of the element
    Count columns;  ///< basic elements, one behind the other
};

/// What a predefined operator sees in an element of a datatype: columns of one basic type, each with a prefix sum of
/// its own.
struct Row {
    const mpi::Datatype* basic;
    Count extent;  ///< bytes from row to row
    Count columns;
    std::vector<Run> runs;
};

/// Of a predefined datatype, or one that is made of one of them by MPI_Type_contiguous, MPI_Type_vector,
/// MPI_Type_create_hvector, MPI_Type_create_resized or MPI_Type_dup, one around the other. Nothing for any other.
/// Throws std::bad_alloc.
std::optional<Row> row_of(const mpi::Datatype& type);

}  // namespace rondo::prefix
