/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix sums of an array that lies distributed over the ranks of a communicator. Link with the library for the ABI of
   your MPI: librondo-prefix-mpich (also for Intel MPI), librondo-prefix-openmpi, librondo-prefix-mpiabi; see
   docs/how-to/prefix-sums.md. It changes nothing but what you call: `rondo run` is neither needed nor in the way. */
#ifndef RONDO_PREFIX_H
#define RONDO_PREFIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The array consists of the elements of rank 0, then those of rank 1, and so on; each rank has `count` of them, as many
   as it likes, or none. Every element of `out` becomes the sum of all elements of the array up to and including that
   of `in` at the same place, or, with `exclusive`, without it.

   `in` may be MPI_IN_PLACE, or `out`; else they must not overlap. Both are in the host's memory. "Sum" stands for any
   operator: MPI's own, or one by MPI_Op_create, which may not commute: operands come in the order of the array.
   `datatype`, `op`, `exclusive` and `comm` are the same on all ranks. With an operator of MPI, the datatype may also be
   made of one predefined datatype by MPI_Type_contiguous, MPI_Type_vector, MPI_Type_create_hvector,
   MPI_Type_create_resized, MPI_Type_dup: each of its columns is summed up by itself.

   The very first element of an exclusive sum is 0 for MPI_SUM, 1 for MPI_PROD, and so on; it is undefined where an
   operator has no such element, or none that is known: MPI_MAXLOC, MPI_MINLOC, and those by MPI_Op_create.

   Collective over `comm`, an intra-communicator. Returns MPI_SUCCESS or an MPI error code, after the error handler of
   `comm` has been called with it. After an error, `out` is undefined; what fails on one rank fails on all behind it. */
int rondo_prefix(const void* in, void* out, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int exclusive,
                 MPI_Comm comm);

/* The same, and in `total`, one element, on every rank the sum of all elements of all ranks. What fails on one rank
   fails on all. If no rank has elements, `total` is what the first element of an exclusive sum would be. */
int rondo_prefix_total(const void* in, void* out, void* total, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                       int exclusive, MPI_Comm comm);

/* For rondo_prefix.f90: the same with Fortran's handles; without `total`, rondo_prefix. */
int rondo_prefix_for_fortran(const void* in, void* out, void* total, MPI_Count count, int datatype, int op,
                             int exclusive, int comm);

#ifdef __cplusplus
}
#endif

#endif
