// SPDX-License-Identifier: BSD-3-Clause
// Calls with wrong arguments, on a communicator whose errors return. Rank 0 prints which calls failed. All exit with 3.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, value = 1, result = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    const int failed[] = {
        MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS,
        MPI_Allreduce(&value, &result, 1, MPI_DATATYPE_NULL, MPI_SUM, comm) != MPI_SUCCESS,
        MPI_Bcast(&value, -1, MPI_INT, 0, comm) != MPI_SUCCESS,
        MPI_Bcast(&value, 1, MPI_INT, 99, comm) != MPI_SUCCESS,
        MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm) != MPI_SUCCESS,
    };
    for (unsigned long i = 0; rank == 0 && i < sizeof failed / sizeof *failed; ++i) printf("%d\n", failed[i]);
    MPI_Finalize();
    return 3;
}
