// SPDX-License-Identifier: BSD-3-Clause
// What the generated functions of native_functions.cpp share: from a call back to the library's own functions.
#pragma once

#include <string_view>
#include <type_traits>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/serve.hpp"

namespace rondo::interposer {

/// The wrapped function with this number.
const Wrapped& wrapped(mpi::Function function);

/// The arguments of a call as the library's own function takes them.
template <class Integer>
struct Arguments {
    using Displacement = std::conditional_t<std::is_same_v<Integer, int>, int, MPI_Aint>;

    explicit Arguments(const UserCall& call)
        : input(call.input), input_count(static_cast<Integer>(call.input_count)),
          input_counts(static_cast<const Integer*>(call.input_counts.array())),
          input_displacements(static_cast<const Displacement*>(call.input_displacements.array())),
          input_type(call.input_type), input_types(call.input_types.array()),
          part_count(static_cast<Integer>(call.part_count)), part_type(call.part_type), buffer(call.output),
          output(call.output), count(static_cast<Integer>(call.count)),
          counts(static_cast<const Integer*>(call.counts.array())),
          displacements(static_cast<const Displacement*>(call.displacements.array())), datatype(call.datatype),
          types(call.types.array()), op(call.op), root(call.root), comm(call.comm), info(call.info),
          request(call.request) {}

    const void* input;
    Integer input_count;
    const Integer* input_counts;
    const Displacement* input_displacements;
    MPI_Datatype input_type;
    const MPI_Datatype* input_types;
    Integer part_count;
    MPI_Datatype part_type;
    void* buffer;
    void* output;
    Integer count;
    const Integer* counts;
    const Displacement* displacements;
    MPI_Datatype datatype;
    const MPI_Datatype* types;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Request* request;
};

/// The address of one of the library's functions; null if the library lacks it.
template <auto member>
void* address_of(const mpi::Library& library) {
    return reinterpret_cast<void*>(library.*member);
}

/// Fails: the library lacks the function.
int call_missing(const mpi::Library& library, const UserCall& call);

#ifdef RONDO_HAVE_LARGE_COUNT_API
/// Makes a large-count call by a library that is older than our headers and lacks that form. Arguments that are not
/// significant on this rank may be anything. `native`: the form without large counts.
int call_small(std::string_view collective, const mpi::Library& library, const UserCall& call, Wrapped::Native native);
#endif

}  // namespace rondo::interposer
