// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking broadcasts of 20000 ints, one after the other, as guarded.c makes blocking ones. Argument: how many.
// Prints how many numbers were wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { length = 20000 };

int main(int argc, char** argv) {
    static int numbers[length];
    int rank, size, failures = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < atoi(argv[1]); ++call) {
        MPI_Request request;
        for (int i = 0; i < length; ++i) numbers[i] = rank == call % size ? call + i : -1;
        MPI_Ibcast(numbers, length, MPI_INT, call % size, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < length; ++i) failures += numbers[i] != call + i;
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", all);
    MPI_Finalize();
}
