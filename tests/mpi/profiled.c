// SPDX-License-Identifier: BSD-3-Clause
// A program for profilers: ten exscans (two of them large-count ones, where there are any), five scans, four broadcasts
// and three reductions.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int failures = 0;
    for (int call = 0; call < 10; ++call) {
        const int one = 1;
        int lower = 0;
        int up_to_me = 0;
#if MPI_VERSION >= 4
        if (call >= 8) {
            MPI_Exscan_c(&one, &lower, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        } else
#endif
            MPI_Exscan(&one, &lower, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank > 0 && lower != rank) ++failures;
        if (call % 2 == 0) {
            MPI_Scan(&one, &up_to_me, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            if (up_to_me != rank + 1) ++failures;
        }
    }
    for (int call = 0; call < 4; ++call) {
        int news = rank == call % 2 ? 100 + call : 0;
        MPI_Bcast(&news, 1, MPI_INT, call % 2, MPI_COMM_WORLD);
        if (news != 100 + call) ++failures;
    }
    for (int call = 0; call < 3; ++call) {
        const int summand = rank + 1;
        int sum = -1;
        MPI_Reduce(&summand, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
        if (sum != (rank == 1 ? size * (size + 1) / 2 : -1)) ++failures;
    }
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
