// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts and floating-point sums in turn; before one of them the last rank ends as it is told to. Arguments: how
// ("abort", "kill" or "finalize"), and before which call.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 400, length = 1000 };

static double values[length], totals[length];

static void end_as(const char* ending) {
    if (strcmp(ending, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(ending, "kill") == 0) raise(SIGKILL);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const char* const ending = argc > 1 ? argv[1] : "finalize";
    const int last = argc > 2 ? atoi(argv[2]) : calls;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < calls; ++call) {
        if (rank == size - 1 && call == last) end_as(ending);
        if (call % 2 == 0) {
            MPI_Bcast(values, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(values, totals, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) printf("done\n");
    MPI_Finalize();
    return 0;
}
