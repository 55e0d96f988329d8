// SPDX-License-Identifier: BSD-3-Clause
// One MPI_Exscan of one element on two ranks, and the same by hand, for callgrind: it collects only while a measured
// call runs. Usage: overhead_exscan (collective|by_hand) REPETITIONS
//
// Rank 1 first hears that rank 0 has sent, so that nobody ever polls for a message in a measured call.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

static int counting = 0;
static long allocations = 0;

void* __libc_malloc(size_t bytes);
void* malloc(size_t bytes) {
    allocations += counting;
    return __libc_malloc(bytes);
}

static long own, prefix;

// 123-doubling for two ranks: one message.
static void exscan_by_hand(const long* input, long* output, int count, MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank + 1 < size) MPI_Send(input, count, MPI_LONG, rank + 1, 0, comm);
    if (rank > 0) MPI_Recv(output, count, MPI_LONG, rank - 1, 0, comm, MPI_STATUS_IGNORE);
}

static void by_hand(void) { exscan_by_hand(&own, &prefix, 1, MPI_COMM_WORLD); }

static void collective(void) { MPI_Exscan(&own, &prefix, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }

static void repeat(void (*call)(void), int repetitions, int rank) {
    int token = 0;
    for (int i = 0; i < repetitions; ++i) {
        own = 7 * (i + 1);
        if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        counting = 1;
        CALLGRIND_TOGGLE_COLLECT;
        call();
        CALLGRIND_TOGGLE_COLLECT;
        counting = 0;
        if (rank == 1 && prefix != own) {
            fprintf(stderr, "wrong result: %ld instead of %ld\n", prefix, own);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        // Rank 0 goes on only when rank 1 is done: no queue fills up.
        if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc != 3) {
        if (rank == 0) fprintf(stderr, "usage: two ranks of %s (collective|by_hand) REPETITIONS\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    void (*const call)(void) = strcmp(argv[1], "collective") == 0 ? collective : by_hand;
    for (int i = 0; i < 10; ++i) call();  // the first one sets things up, with both ranks in it
    repeat(call, atoi(argv[2]), rank);
    printf("rank %d allocations %ld\n", rank, allocations);
    MPI_Finalize();
    return 0;
}
