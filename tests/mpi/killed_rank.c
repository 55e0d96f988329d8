// SPDX-License-Identifier: BSD-3-Clause
// Exscans without end; after some of them, rank 1 is killed.
#include <mpi.h>
#include <signal.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long call = 0;; ++call) {
        if (rank == 1 && call == 100) raise(SIGKILL);
        long lower = 0;
        MPI_Exscan(&call, &lower, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
}
