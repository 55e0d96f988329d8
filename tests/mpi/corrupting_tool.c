// SPDX-License-Identifier: BSD-3-Clause
// A tool beneath Rondo that spoils one element of one rank's result.
#include <mpi.h>

int MPI_Exscan(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    int rank, bytes;
    const int error = PMPI_Exscan(input, output, count, type, op, comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Type_size(type, &bytes);
    if (rank == 1) ((char*)output)[(long)count * bytes - 1] ^= 1;
    return error;
}
