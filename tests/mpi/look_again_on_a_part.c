// SPDX-License-Identifier: BSD-3-Clause
// Ranks 0 and 1 reduce on their own, then all ranks do, then these two again, many times, and now the root in place: it
// remembers less of such calls than the other rank does. Argument: how many times. Prints how often a result was wrong.
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { numbers = 64, few = 4, enough = 100, done = 1 };

static int failures;

static void add_up(MPI_Comm comm, int in_place) {
    int values[numbers], sums[numbers], rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < numbers; ++i) values[i] = rank + i;
    if (rank != 0) {
        MPI_Reduce(values, NULL, numbers, MPI_INT, MPI_SUM, 0, comm);
        return;
    }
    if (in_place) MPI_Reduce(MPI_IN_PLACE, memcpy(sums, values, sizeof sums), numbers, MPI_INT, MPI_SUM, 0, comm);
    else MPI_Reduce(values, sums, numbers, MPI_INT, MPI_SUM, 0, comm);
    for (int i = 0; i < numbers; ++i) failures += sums[i] != size * (size - 1) / 2 + size * i;
}

/// The others have the processors meanwhile.
static void sleep_until_done(void) {
    for (int is_done = 0; !is_done; usleep(1000)) MPI_Iprobe(0, done, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 0, done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    for (int call = 0; call < few && rank < 2; ++call) add_up(pair, 0);
    for (int call = 0; call < enough; ++call) add_up(MPI_COMM_WORLD, 0);
    for (int call = 0; call < calls && rank < 2; ++call) add_up(pair, 1);
    if (rank >= 2) sleep_until_done();
    for (int other = 2; other < size && rank == 0; ++other) MPI_Send(NULL, 0, MPI_INT, other, done, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", failures);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return failures != 0;
}
