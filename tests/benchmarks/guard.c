// SPDX-License-Identifier: BSD-3-Clause
// Collectives as applications call them. Arguments: how many; `mixed`: on four communicators, most of 8 bytes, some of
// up to 4 KiB; or `long`: on the world, 64 to 256 KiB. Their order only looks random. Prints seconds, from when all
// ranks begin until the last has ended.
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 64, length = 512, long_length = 32768 };

static double values[long_length], results[long_length];
static int numbers[2 * long_length];
static double parts[most_ranks];

static void call(unsigned int kind, MPI_Comm comm) {
    switch (kind) {
        case 0: MPI_Allreduce(values, results, length, MPI_DOUBLE, MPI_SUM, comm); break;
        case 1: MPI_Bcast(numbers, length, MPI_INT, 0, comm); break;
        case 2: MPI_Bcast(numbers, 16, MPI_INT, 0, comm); break;
        case 3: MPI_Reduce(values, results, 64, MPI_DOUBLE, MPI_SUM, 0, comm); break;
        case 4: MPI_Exscan(numbers, results, 2, MPI_INT, MPI_SUM, comm); break;
        case 5: MPI_Allgather(values, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, comm); break;
        default: MPI_Allreduce(values, results, 1, MPI_DOUBLE, kind % 3 != 0 ? MPI_SUM : MPI_MAX, comm);
    }
}

static void call_long(unsigned int kind, MPI_Comm comm) {
    switch (kind % 4) {
        case 0: MPI_Allreduce(values, results, long_length, MPI_DOUBLE, MPI_SUM, comm); break;
        case 1: MPI_Bcast(numbers, 2 * long_length, MPI_INT, 0, comm); break;
        case 2: MPI_Reduce(values, results, long_length / 2, MPI_DOUBLE, MPI_SUM, 0, comm); break;
        default: MPI_Exscan(numbers, results, long_length / 2, MPI_INT, MPI_SUM, comm);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int calls = argc > 1 ? atoi(argv[1]) : 2000;
    const int is_long = argc > 2 && strcmp(argv[2], "long") == 0;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm comms[4] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / ((size + 1) / 2), rank, &comms[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    unsigned int seed = 1;
    for (int i = 0; i < calls; ++i) {
        seed = seed * 1664525U + 1013904223U;
        const unsigned int kind = (seed >> 8) % 12;
        if (is_long) call_long(kind, MPI_COMM_WORLD);
        else call(kind, comms[(seed >> 24) % 4]);
    }
    double seconds = MPI_Wtime() - start, longest = 0;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.6f\n", longest);
        fflush(stdout);
    }
    for (int i = 1; i < 4; ++i) MPI_Comm_free(&comms[i]);
    // Debian's MPICH 4.0.2 waits for ever in MPI_Finalize if it comes right after messages between nodes.
    usleep(500000);
    MPI_Finalize();
    return 0;
}
