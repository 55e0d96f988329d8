// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// The most bytes that Rondo has the library reduce in one call. With Intel MPI 2021.18, a broadcast of 80 KB to five
/// ranks of a node delivers wrong data after an MPI_Allreduce of 56 bytes on the same communicator, and right data
/// after one of 32 (docs/explanation/interposition.md). A program that does not run into this by itself must not do so
/// with Rondo.
inline constexpr std::size_t short_allreduce = 32;

/// Carries out MPI_Allreduce in place, by as many calls as that takes. Returns an MPI error code; all calls are made,
/// whatever one of them returns.
template <class Value>
int reduce_in_short_pieces(std::span<Value> values, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    constexpr std::size_t most = short_allreduce / sizeof(Value);
    int error = MPI_SUCCESS;
    for (std::size_t done = 0; done < values.size(); done += most) {
        const auto piece = values.subspan(done, std::min(most, values.size() - done));
        const int now = library().Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type, op, comm);
        if (error == MPI_SUCCESS) error = now;
    }
    return error;
}

}  // namespace rondo::mpi
