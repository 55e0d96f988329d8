/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix sum and the total of all, in C. Rank 0 prints what all ranks have got. */
#include <mpi.h>
#include <rondo_prefix.h>

#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double mine[3] = {rank, 0.5, 1};
    double sums[4] = {0}, all[64];
    rondo_prefix_total(mine, sums, &sums[3], 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(sums, 4, MPI_DOUBLE, all, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i) {
        printf("rank %d: %g %g %g, of %g\n", i, all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]);
    }
    MPI_Finalize();
    return 0;
}
