// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/division.hpp"

namespace rondo::interposer {

/// What functions whose vector has a part for each rank are given besides.
struct PartsArguments {
    Count input_count;
    MPI_Datatype input_type;
    mpi::Numbers counts;  ///< none: each part is as long as the call's count says
    mpi::Numbers displacements;
};

/// A call of a collective, as the user made it. What its function has no argument for is null.
struct UserCall {
    const void* input;  ///< or MPI_IN_PLACE
    void* output;       ///< the same as the input where there is one buffer
    Count count;
    MPI_Datatype datatype;
    MPI_Op op;
    Rank root;
    MPI_Comm comm;
    const PartsArguments* parts;
};

/// Where the output of a function means something.
enum class Output : std::uint8_t {
    everywhere,
    after_rank_0,  ///< exclusive scans
    at_the_root,
    is_the_input,  ///< one buffer for both, everywhere
};

/// True if the output of this rank means something after the call.
inline bool has_output(Output output, const UserCall& call, Rank rank) {
    if (output == Output::at_the_root) return rank == call.root;
    return output != Output::after_rank_0 || rank > 0;
}

/// True if the input stands in the output buffer of this rank.
inline bool in_place(Output output, const UserCall& call, Rank rank) {
    if (output == Output::at_the_root && rank != call.root) return false;
    return call.input == MPI_IN_PLACE || call.input == call.output;
}

/// Buffers that MPI forbids and a library that checks its arguments reports: MPICH's family compares those of a scan on
/// every rank, and knows null ones; Open MPI looks only at an output that means something, and takes the same buffer
/// for both but where there is a root.
inline bool buffers_in_doubt(Output output, const UserCall& call, [[maybe_unused]] const mpi::Datatype& type,
                             Rank rank) {
    const bool is_root = output == Output::at_the_root && rank == call.root;
#ifdef RONDO_ABI_OPENMPI
    if (output == Output::at_the_root && !is_root) return call.input == MPI_IN_PLACE;
    const bool has_output = rank > 0 || output != Output::after_rank_0;
    return has_output && (call.output == MPI_IN_PLACE || (is_root && call.input == call.output));
#else
    // With a derived datatype, nullptr may be MPI_BOTTOM.
    const bool needs_address = type.predefined;
    if (needs_address && call.input == nullptr) return true;
    if (output == Output::at_the_root && !is_root) return call.input == MPI_IN_PLACE;
    const bool has_output = rank > 0 || output != Output::after_rank_0;
    if (needs_address && has_output && call.output == nullptr) return true;
    const bool compares = output != Output::is_the_input;
    return call.output == MPI_IN_PLACE || (compares && call.input == call.output);
#endif
}

}  // namespace rondo::interposer
