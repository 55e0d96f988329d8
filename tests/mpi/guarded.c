// SPDX-License-Identifier: BSD-3-Clause
// Equal calls, to which some rank comes late. Arguments: how many, how many microseconds late at most, and on how many
// communicators in turn: the world, a copy of it, pairs. Prints how often a result was wrong, and how often a
// floating-point sum had other bits than the first one there.
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { length = 20000, most_communicators = 3 };

static int rank, failures, changes, calls_on[most_communicators];
static int numbers[length], sums[length];
static double values[length], totals[length], first[most_communicators][length];

/// Whoever it is.
static void be_late(int call, int microseconds, int size) {
    unsigned int seed = (unsigned int)call * 2654435761U;
    const int chosen = rand_r(&seed) % size;
    if (rank == chosen && microseconds > 0) usleep((useconds_t)(rand_r(&seed) % microseconds));
}

static void broadcast(int call, MPI_Comm comm, int own, int size) {
    const int root = call % size;
    for (int i = 0; i < length; ++i) numbers[i] = own == root ? call + i : -1;
    MPI_Bcast(numbers, length, MPI_INT, root, comm);
    for (int i = 0; i < length; ++i) failures += numbers[i] != call + i;
}

static void sum_up(int call, MPI_Comm comm, int own, int size) {
    for (int i = 0; i < length; ++i) numbers[i] = own + i + call;
    MPI_Allreduce(numbers, sums, length, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < length; ++i) failures += sums[i] != size * (size - 1) / 2 + size * (i + call);
}

/// Each order of the ranks gives another sum. Every second one is in place.
static void add_fractions(int is_first, int which, MPI_Comm comm, int own) {
    static int calls;
    const int in_place = calls++ % 2;
    double* const input = in_place ? totals : values;
    for (int i = 0; i < length; ++i) input[i] = 1.0 / (3 + 7 * own + i % 101);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : input, totals, length, MPI_DOUBLE, MPI_SUM, comm);
    if (is_first) memcpy(first[which], totals, sizeof totals);
    changes += memcmp(first[which], totals, sizeof totals) != 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int calls = argc > 1 ? atoi(argv[1]) : 40, late = argc > 2 ? atoi(argv[2]) : 0;
    int size_of_world = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size_of_world);
    const int communicators = argc > 3 ? atoi(argv[3]) : 1;
    MPI_Comm comms[most_communicators] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[2]);
    for (int call = 0; call < calls; ++call) {
        if (call == calls / 2) {  // pairs that have never met
            MPI_Comm_free(&comms[2]);
            calls_on[2] = 0;
            MPI_Comm_split(MPI_COMM_WORLD, rank % (size_of_world / 2), rank, &comms[2]);
        }
        const int which = call % communicators;
        const MPI_Comm comm = comms[which];
        int own = 0, size = 1;
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &size);
        be_late(call, late, size);
        broadcast(call, comm, own, size);
        be_late(call + calls, late, size);
        sum_up(call, comm, own, size);
        be_late(call + 2 * calls, late, size);
        add_fractions(calls_on[which]++ == 0, which, comm, own);
    }
    int mine[2] = {failures, changes}, all[2];
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\nchanges %d\n", all[0], all[1]);
    for (int i = 1; i < most_communicators; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return failures != 0;
}
