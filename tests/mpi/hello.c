// SPDX-License-Identifier: BSD-3-Clause
// The smallest program: tells whether an MPI library works on this machine at all.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("ranks add up to %d\n", sum);
    MPI_Finalize();
    return 0;
}
