// SPDX-License-Identifier: BSD-3-Clause
// Exchanges whose parts have other lengths in each call, of which each rank knows its own alone: MPI_Alltoallv,
// MPI_Gatherv and MPI_Scatterv. Argument: how many of each. Prints how many elements were wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8, longest = 300 };

static int rank, size, failures;

/// Elements that one rank sends another in a call; many parts are empty.
static int length_of(int call, int from, int to) {
    unsigned int seed = (unsigned int)(call * 977 + from * 31 + to) * 2654435761U;
    const int drawn = rand_r(&seed) % longest;
    return drawn < longest / 4 ? 0 : drawn;
}
static int element(int call, int from, int to, int i) { return call + 1000 * from + 100 * to + i; }

/// Lays out a part for each rank. Returns how many elements there are.
static int lay_out(int call, int sends, int counts[], int displacements[]) {
    int next = 0;
    for (int other = 0; other < size; ++other) {
        counts[other] = sends ? length_of(call, rank, other) : length_of(call, other, rank);
        displacements[other] = next;
        next += counts[other];
    }
    return next;
}
static void fill(int call, const int counts[], const int displacements[], int data[]) {
    for (int to = 0; to < size; ++to) {
        for (int i = 0; i < counts[to]; ++i) data[displacements[to] + i] = element(call, rank, to, i);
    }
}
static void check(int call, const int counts[], const int displacements[], const int data[]) {
    for (int from = 0; from < size; ++from) {
        for (int i = 0; i < counts[from]; ++i)
            failures += data[displacements[from] + i] != element(call, from, rank, i);
    }
}

int main(int argc, char** argv) {
    static int output[most_ranks * longest], input[most_ranks * longest], part[longest];
    int sent[most_ranks], at[most_ranks], received[most_ranks], into[most_ranks];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = argc > 1 ? atoi(argv[1]) : 40;
    if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int call = 0; call < calls; ++call) {
        const int root = call % size;
        lay_out(call, 1, sent, at);
        lay_out(call, 0, received, into);
        fill(call, sent, at, output);
        MPI_Alltoallv(output, sent, at, MPI_INT, input, received, into, MPI_INT, MPI_COMM_WORLD);
        check(call, received, into, input);

        const int to_root = length_of(call, rank, root), from_root = length_of(call, root, rank);
        for (int i = 0; i < to_root; ++i) part[i] = element(call, rank, root, i);
        MPI_Gatherv(part, to_root, MPI_INT, input, received, into, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root) check(call, received, into, input);

        MPI_Scatterv(output, sent, at, MPI_INT, part, from_root, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < from_root; ++i) failures += part[i] != element(call, root, rank, i);
    }
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", all);
    MPI_Finalize();
    return failures != 0;
}
