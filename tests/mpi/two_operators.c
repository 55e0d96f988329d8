// SPDX-License-Identifier: BSD-3-Clause
// Reductions of equal length whose operators differ in whether bits depend on who carries them out, and in place at the
// root alone. Prints how often a result was wrong.
#include <mpi.h>
#include <stdio.h>

enum { calls = 12 };

int main(int argc, char** argv) {
    int rank = 0, size = 1, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double mine[2] = {rank, rank};
    double result[2];
    for (int call = 0; call < calls; ++call) MPI_Reduce(mine, result, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int call = 0; call < calls; ++call) {
        double most = rank, sum = 0;
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &most, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        failures += rank == 0 && (most != size - 1 || sum != size * (size - 1) / 2.0);
    }
    if (rank == 0) printf("failures %d\n", failures);
    MPI_Finalize();
    return failures != 0;
}
