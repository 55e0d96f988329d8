// SPDX-License-Identifier: BSD-3-Clause
// An MPI library that exists only in tests: what it keeps stands in ordinary containers, it counts how often each of
// its functions is called, and fails where a test tells it to. It decides nothing that Rondo decides, and it carries
// out what Rondo needs of a library. Of the collectives that Rondo serves, it carries out MPI_Allgather, MPI_Allreduce,
// MPI_Barrier and MPI_Bcast; calls of the others are counted, and that is all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/library.hpp"
#include "tests/backends/mpi/made_up_ranks.hpp"

namespace rondo::mpi::made_up {

/// What the library is like. A role changes it before the program calls the function that it is about.
struct Behaviour {
    std::string version = "MPICH Version 5.0.2";
    int threads = MPI_THREAD_SINGLE;
    int largest_tag = (1 << 28) - 1;
    bool checks_arguments = true;
    bool saturates = false;         ///< sums of signed bytes, which others let wrap around
    std::vector<int> node_of = {};  ///< of each rank of the world; empty: one node
};
Behaviour& behaviour();

/// The library of this rank, which Rondo calls from now on.
void install();
/// The functions, to leave some out.
Library table();

/// How often a function was called, by its name without MPI_.
int calls(const std::string& function);
/// Bytes that MPI_Allreduce was given at most.
std::size_t longest_allreduce();
/// From now on `after` calls succeed, and then so many fail with this code.
void fail(const std::string& function, int code, int times = 1, int after = 0);

/// What error handlers were told of, in turn. MPI_ERRORS_ARE_FATAL ends the rank, which fails.
struct Handled {
    MPI_Comm comm;
    int code;
};
std::vector<Handled>& handled();
/// What an error handler of the program does; it has the next communicator that returns errors.
void handle_errors(MPI_Comm comm, std::function<void(int code)> handler);
/// Errors on it come back as codes.
void return_errors(MPI_Comm comm);

// What a program does, where Rondo does not: `colours` are those of all ranks of the communicator.
MPI_Comm duplicate(MPI_Comm comm);
MPI_Comm split(MPI_Comm comm, const std::vector<int>& colours);
/// An inter-communicator between the ranks of even and of odd number.
MPI_Comm make_inter(MPI_Comm comm);
void free(MPI_Comm comm);
/// MPI_Finalize.
void finalize();

/// How many communicators, groups, datatypes, keys and requests there are that somebody has to free.
std::size_t left();

// Datatypes are committed unless a test says otherwise.
MPI_Datatype contiguous(int count, MPI_Datatype inner);
MPI_Datatype duplicate_type(MPI_Datatype inner);
/// So many blocks of `length` elements, each `stride` behind the one before.
MPI_Datatype vector(int count, int length, int stride, MPI_Datatype inner);
/// An element of pieces, which its signature names in this order: {offset, bytes}.
MPI_Datatype pieces(std::vector<std::pair<MPI_Aint, MPI_Aint>> of_element, MPI_Aint extent);
/// Made with large counts, of which older functions know nothing.
MPI_Datatype large_contiguous(MPI_Count count, MPI_Datatype inner);
void take_back_commit(MPI_Datatype type);
void free(MPI_Datatype* type);

using Function = std::function<void(const void* in, void* inout, int count)>;
MPI_Op make_operator(Function function, bool commutes);

}  // namespace rondo::mpi::made_up
