// SPDX-License-Identifier: BSD-3-Clause
// The MPI library of the process, reached through pointers: Rondo links against none, so that it can be loaded before
// any of them and with those that are loaded privately (mpi4py does so).
#pragma once

#include "rondo/backends/mpi/abi.hpp"
#include "rondo/backends/mpi/wrapped_functions.hpp"

namespace rondo::mpi {

// The functions that Rondo calls itself, besides those that it wraps.
#define RONDO_MPI_FUNCTIONS(FUNCTION) \
    FUNCTION(Cancel)                  \
    FUNCTION(Comm_call_errhandler)    \
    FUNCTION(Comm_create)             \
    FUNCTION(Comm_create_keyval)      \
    FUNCTION(Comm_delete_attr)        \
    FUNCTION(Comm_free)               \
    FUNCTION(Comm_free_keyval)        \
    FUNCTION(Comm_get_attr)           \
    FUNCTION(Comm_get_errhandler)     \
    FUNCTION(Comm_get_name)           \
    FUNCTION(Comm_get_parent)         \
    FUNCTION(Comm_group)              \
    FUNCTION(Comm_idup)               \
    FUNCTION(Comm_rank)               \
    FUNCTION(Comm_remote_size)        \
    FUNCTION(Comm_set_attr)           \
    FUNCTION(Comm_set_errhandler)     \
    FUNCTION(Comm_size)               \
    FUNCTION(Comm_split_type)         \
    FUNCTION(Comm_test_inter)         \
    FUNCTION(Errhandler_free)         \
    FUNCTION(Error_class)             \
    FUNCTION(Error_string)            \
    FUNCTION(Finalized)               \
    FUNCTION(Get_library_version)     \
    FUNCTION(Grequest_complete)       \
    FUNCTION(Grequest_start)          \
    FUNCTION(Group_free)              \
    FUNCTION(Group_translate_ranks)   \
    FUNCTION(Initialized)             \
    FUNCTION(Query_thread)            \
    FUNCTION(Iprobe)                  \
    FUNCTION(Irecv)                   \
    FUNCTION(Isend)                   \
    FUNCTION(Op_commutative)          \
    FUNCTION(Pack)                    \
    FUNCTION(Recv)                    \
    FUNCTION(Recv_init)               \
    FUNCTION(Reduce_local)            \
    FUNCTION(Send)                    \
    FUNCTION(Sendrecv)                \
    FUNCTION(Status_set_cancelled)    \
    FUNCTION(Status_set_elements)     \
    FUNCTION(Test)                    \
    FUNCTION(Testsome)                \
    FUNCTION(Type_commit)             \
    FUNCTION(Type_contiguous)         \
    FUNCTION(Type_create_hindexed)    \
    FUNCTION(Type_free)               \
    FUNCTION(Type_get_contents)       \
    FUNCTION(Type_get_envelope)       \
    FUNCTION(Type_get_extent)         \
    FUNCTION(Type_get_name)           \
    FUNCTION(Type_get_true_extent)    \
    FUNCTION(Type_size_x)             \
    FUNCTION(Unpack)                  \
    FUNCTION(Wait)

// The functions that convert Fortran's numbers of handles; nullptr where the library has none. MPICH's handles are
// these numbers.
#if defined(RONDO_ABI_MPICH)
#define RONDO_MPI_NUMBER_FUNCTIONS(FUNCTION)
#elif defined(RONDO_ABI_MPIABI)
#define RONDO_MPI_NUMBER_FUNCTIONS(FUNCTION) FUNCTION(Comm_fromint) FUNCTION(Op_fromint) FUNCTION(Type_fromint)
#else
#define RONDO_MPI_NUMBER_FUNCTIONS(FUNCTION) FUNCTION(Comm_f2c) FUNCTION(Op_f2c) FUNCTION(Type_f2c)
#endif

// Functions that only newer libraries have; nullptr otherwise.
#ifdef RONDO_HAVE_LARGE_COUNT_API
#define RONDO_MPI_LARGE_COUNT_FUNCTIONS(FUNCTION) \
    FUNCTION(Irecv_c)                             \
    FUNCTION(Isend_c)                             \
    FUNCTION(Pack_c)                              \
    FUNCTION(Type_get_contents_c)                 \
    FUNCTION(Type_get_envelope_c)                 \
    FUNCTION(Unpack_c)
#else
#define RONDO_MPI_LARGE_COUNT_FUNCTIONS(FUNCTION)
#endif

/// Profiling entry points (PMPI_): no tool should count Rondo's own calls.
struct Library {
#define RONDO_MPI_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
    RONDO_MPI_FUNCTIONS(RONDO_MPI_MEMBER)
    RONDO_MPI_NUMBER_FUNCTIONS(RONDO_MPI_MEMBER)
    RONDO_FUNCTIONS_BY_HAND(RONDO_MPI_MEMBER)
    RONDO_SERVED_FUNCTIONS(RONDO_MPI_MEMBER)
    RONDO_SERVED_OPTIONAL_FUNCTIONS(RONDO_MPI_MEMBER)
    RONDO_MPI_LARGE_COUNT_FUNCTIONS(RONDO_MPI_MEMBER)
#undef RONDO_MPI_MEMBER

    // Handles that are needed often; in some ABIs looking one up is slow.
    MPI_Comm comm_null = {}, comm_self = {}, comm_world = {};
    MPI_Datatype byte = {}, datatype_null = {};
    MPI_Op op_null = {};
    MPI_Request request_null = {};
    MPI_Info info_null = {};
    MPI_Errhandler errors_return = {}, errors_are_fatal = {};
};

namespace detail {
extern Library the_library;
}

/// Valid after `connect` returned true.
inline const Library& library() { return detail::the_library; }

/// Finds the MPI library: behind this one in the search order, else in what `caller` (an address in the code that
/// called MPI) is linked with, else under the usual names among what is loaded. False if there is none of this ABI;
/// then `missing` says why. The first connection stays.
bool connect(const void* caller, const char*& missing);
/// Takes these functions for those of the MPI library, whose handles are looked up. The first connection stays.
void connect_to(const Library& functions);

/// The function of that name in the MPI library that `connect` has found, even if it cannot be used, or in a library
/// that came with it; nullptr if there is none.
void* definition_in_library(const char* name);

/// The definition of an MPI_ function in a tool (profiler) between Rondo and the MPI library; nullptr without one.
void* tool_definition(const char* name);

}  // namespace rondo::mpi
