// SPDX-License-Identifier: BSD-3-Clause
// Ranks spawn one more, or as many as they are told, and all sum over a communicator of both programs, twice.
// Usage: spawning [NUMBER|endlessly]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    alarm(120);  // whoever waits for a rank that is no more
    MPI_Init(&argc, &argv);
    MPI_Comm parent, others, all;
    MPI_Comm_get_parent(&parent);
    const int number = argc > 1 ? atoi(argv[1]) : 1;
    const int endlessly = number == 0;
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], argv + 1, endlessly ? 1 : number, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                       MPI_ERRCODES_IGNORE);
    } else {
        others = parent;
    }
    MPI_Intercomm_merge(others, parent != MPI_COMM_NULL, &all);
    int rank = 0, size = 0, own = 0, sum = 0, right = 0;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    while (endlessly) MPI_Barrier(all);
    own = rank + 1;
    for (int i = 0; i < 2; ++i) {
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, all);
        right += sum == size * (size + 1) / 2;
    }
    if (parent == MPI_COMM_NULL) {
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        printf("rank %d of %d: %d right, %d in its own world\n", rank, size, right, sum);
        fflush(stdout);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
