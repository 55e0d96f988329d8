// SPDX-License-Identifier: BSD-3-Clause
// Very many calls. Prints by how many KiB the process grew while it made the last nine tenths of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long kibibytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 1;
    long before = 0;
    for (long i = 0; i < calls; ++i) {
        if (i == calls / 10) before = kibibytes();
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (i % 1000 == 0) MPI_Barrier(MPI_COMM_WORLD);  // no queue fills up
    }
    if (rank == 0) printf("%ld\n", kibibytes() - before);
    MPI_Finalize();
    return 0;
}
