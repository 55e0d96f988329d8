// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong with a prefix sum, as ranks tell each other and the user.
#pragma once

#include <cstdint>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/core/block.hpp"

namespace rondo::prefix {

enum class Cause : std::uint8_t {
    reported,  ///< by MPI, which has a text for the error code
    comm,
    inter_comm,
    datatype,
    operation,
    count,
    no_buffer,
    overlap,
    device,
    total,
    memory,
    differing,
};

/// A sentence for the user: what was wrong, and what was expected. nullptr: MPI knows.
inline const char* text_of(Cause cause) {
    switch (cause) {
        case Cause::reported: return nullptr;
        case Cause::comm: return "the communicator is MPI_COMM_NULL; expected an intra-communicator";
        case Cause::inter_comm:
            return "an inter-communicator, whose ranks have no common order; expected an intra-communicator";
        case Cause::datatype: return "the datatype is null or empty; expected that of an element";
        case Cause::operation:
            return "the operator is null, or not defined on the datatype; docs/reference/prefix-sums.md says which "
                   "datatypes each operator takes";
        case Cause::count: return "a negative count, or one of more bytes than there are addresses; expected 0 or more";
        case Cause::no_buffer: return "a null buffer; expected the address of as many elements as count says";
        case Cause::overlap: return "in and out overlap in part; expected the same address, or memory apart";
        case Cause::device: return "memory of a GPU; expected the host's";
        case Cause::total: return "no place for the total (null, or MPI_IN_PLACE); expected the address of an element";
        case Cause::memory: return "no memory; give each rank less, or more ranks to the array";
        case Cause::differing:
            return "ranks differ in datatype, operator or exclusive, or only some want the total; expected equal "
                   "arguments on all ranks";
    }
    return nullptr;
}

struct Failure {
    int error = MPI_SUCCESS;  ///< MPI's code
    Cause cause = Cause::reported;
    Rank rank = -1;  ///< whose fault it is; -1: not that of one alone

    [[nodiscard]] bool is_any() const { return error != MPI_SUCCESS; }
};

}  // namespace rondo::prefix
