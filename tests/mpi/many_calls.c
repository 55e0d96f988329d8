// SPDX-License-Identifier: BSD-3-Clause
// Many calls of a few kinds: broadcasts and reductions with changing roots, where rank 0 reduces in place now and then,
// allreduces, reduce-scatters of vectors that are divided in two ways, and barriers, on the world, a copy of it and
// pairs of ranks. Arguments: how many, and the bytes of a broadcast. Prints how often a result was wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 4, longest = 4096, most_ranks = 8 };

static int failures;
static char text[longest];

static void broadcast(int call, MPI_Comm comm, int rank, int size, int bytes) {
    const int root = call % size;
    memset(text, rank == root ? call % 100 : -1, (size_t)bytes);
    MPI_Bcast(text, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; ++i) failures += text[i] != call % 100;
}

static void add_up(int call, MPI_Comm comm, int rank, int size) {
    int values[numbers], sums[numbers];
    const int root = call / 2 % size;
    for (int i = 0; i < numbers; ++i) values[i] = rank + i + call;
    if (call % 4 == 0) MPI_Allreduce(values, sums, numbers, MPI_INT, MPI_SUM, comm);
    else if (rank != root) MPI_Reduce(values, NULL, numbers, MPI_INT, MPI_SUM, root, comm);
    else if (root != 0 || call % 3 != 0) MPI_Reduce(values, sums, numbers, MPI_INT, MPI_SUM, root, comm);
    else MPI_Reduce(MPI_IN_PLACE, memcpy(sums, values, sizeof sums), numbers, MPI_INT, MPI_SUM, root, comm);
    if (call % 4 != 0 && rank != root) return;
    for (int i = 0; i < numbers; ++i) failures += sums[i] != size * (size - 1) / 2 + size * (i + call);
}

/// The whole vector is of one length, and one rank has most of it.
static void divide(int call, MPI_Comm comm, int rank, int size) {
    int values[most_ranks * numbers], parts[most_ranks], sums[most_ranks * numbers], start = 0;
    if (size > most_ranks) return;
    const int has_most = call / 10 % size;
    for (int i = 0; i < size; ++i) parts[i] = i == has_most ? size * (numbers - 1) + 1 : 1;
    for (int i = 0; i < rank; ++i) start += parts[i];
    for (int i = 0; i < size * numbers; ++i) values[i] = rank + i + call;
    MPI_Reduce_scatter(values, sums, parts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < parts[rank]; ++i) failures += sums[i] != size * (size - 1) / 2 + size * (start + i + call);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int calls = argc > 1 ? atoi(argv[1]) : 1000, bytes = argc > 2 ? atoi(argv[2]) : 8;
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[2]);
    for (int call = 0; call < calls; ++call) {
        const MPI_Comm comm = comms[call % 7 == 0 ? 1 : call % 5 == 0 ? 2 : 0];
        int own = 0, size = 1;
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &size);
        broadcast(call, comm, own, size, bytes);
        add_up(call, comm, own, size);
        if (call % 2 == 0) divide(call, comm, own, size);
        if (call % 3 == 0) MPI_Barrier(comm);
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", all);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Finalize();
    return failures != 0;
}
