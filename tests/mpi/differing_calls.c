// SPDX-License-Identifier: BSD-3-Clause
// Calls that all differ: other counts, other roots, other communicators. Argument: how many. Prints failures.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 5000 };

static int rank, size, failures;
static int vector[most], sums[most];

static void broadcast(int call, MPI_Comm comm) {
    const int count = 1 + call * 37 % most, root = call % size;
    for (int i = 0; i < count; ++i) vector[i] = rank == root ? call + i : -1;
    MPI_Bcast(vector, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) failures += vector[i] != call + i;
}

static void reduce_to_all(int call, MPI_Comm comm) {
    const int count = 1 + call * 53 % most;
    for (int i = 0; i < count; ++i) vector[i] = rank + i + call;
    MPI_Allreduce(vector, sums, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) failures += sums[i] != size * (size - 1) / 2 + size * (i + call);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Comm copies[2];
    for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    for (int pass = 0; pass < 2; ++pass) {  // what was forgotten comes back
        for (int call = 0; call < calls; ++call) {
            broadcast(call, copies[call % 2]);
            reduce_to_all(call, copies[call / 2 % 2]);
        }
    }
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", all);
    for (int i = 0; i < 2; ++i) MPI_Comm_free(&copies[i]);
    MPI_Finalize();
    return failures != 0;
}
