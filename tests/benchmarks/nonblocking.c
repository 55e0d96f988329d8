// SPDX-License-Identifier: BSD-3-Clause
// What nonblocking collectives take. Arguments: a count of doubles, rounds. For each of them, milliseconds of the
// slowest rank from the call to the end of MPI_Wait: alone, and while the program computes for as long as it took
// alone, with an MPI_Test every millisecond; and of the blocking form. Arguments `calls` and a number: microseconds of
// short calls in a row, and of messages. Prints a line for each figure: name, way, time.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BCAST, REDUCE, ALLREDUCE, SCAN, ALLTOALL, collectives };
static const char* const names[collectives] = {"bcast", "reduce", "allreduce", "scan", "alltoall"};
static double *from, *into;
static int count, rank, size;

static MPI_Request begin(int collective) {
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Comm all = MPI_COMM_WORLD;
    const int part = count / size;
    switch (collective) {
        case BCAST: MPI_Ibcast(from, count, MPI_DOUBLE, 0, all, &request); break;
        case REDUCE: MPI_Ireduce(from, into, count, MPI_DOUBLE, MPI_SUM, 0, all, &request); break;
        case ALLREDUCE: MPI_Iallreduce(from, into, count, MPI_DOUBLE, MPI_SUM, all, &request); break;
        case SCAN: MPI_Iscan(from, into, count, MPI_DOUBLE, MPI_SUM, all, &request); break;
        default: MPI_Ialltoall(from, part, MPI_DOUBLE, into, part, MPI_DOUBLE, all, &request);
    }
    return request;
}

static void call(int collective) {
    const MPI_Comm all = MPI_COMM_WORLD;
    const int part = count / size;
    switch (collective) {
        case BCAST: MPI_Bcast(from, count, MPI_DOUBLE, 0, all); break;
        case REDUCE: MPI_Reduce(from, into, count, MPI_DOUBLE, MPI_SUM, 0, all); break;
        case ALLREDUCE: MPI_Allreduce(from, into, count, MPI_DOUBLE, MPI_SUM, all); break;
        case SCAN: MPI_Scan(from, into, count, MPI_DOUBLE, MPI_SUM, all); break;
        default: MPI_Alltoall(from, part, MPI_DOUBLE, into, part, MPI_DOUBLE, all);
    }
}

/// Stands for computing: on an emulated cluster the processors belong to other nodes meanwhile.
static void compute(double seconds, MPI_Request* request) {
    const struct timespec a_while = {0, 1000000};
    int done = 0;
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
        nanosleep(&a_while, NULL);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

static double slowest(double seconds) {
    double most = 0;
    PMPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void measure(int rounds) {
    for (int collective = 0; collective < collectives; ++collective) {
        double alone = 0;
        for (int round = 0; round < 3 * rounds; ++round) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double start = MPI_Wtime();
            const int way = round % 3;
            if (way == 2) {
                call(collective);
            } else {
                MPI_Request request = begin(collective);
                if (way == 1) compute(alone, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            const double took = slowest(MPI_Wtime() - start);
            if (way == 0) alone = took;
            const char* const ways[] = {"nonblocking", "overlapped", "blocking"};
            if (rank == 0) printf("%s %s %.6f\n", names[collective], ways[way], took * 1e3);
        }
    }
}

static void measure_calls(int calls) {
    double one = 1, sum = 0;
    MPI_Request request;
    for (int repetition = 0; repetition < 5; ++repetition) {
        double start = MPI_Wtime();
        for (int i = 0; i < calls; ++i) {
            MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        double took = slowest(MPI_Wtime() - start);
        if (rank == 0) printf("allreduce short %.6f\n", took / calls * 1e6);
        start = MPI_Wtime();
        for (int i = 0; i < calls; ++i) {
            if (rank == i % 2) MPI_Send(&one, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
            else if (rank < 2) MPI_Recv(&sum, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        took = slowest(MPI_Wtime() - start);
        if (rank == 0) printf("message short %.6f\n", took / calls * 1e6);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "calls") == 0) {
        measure_calls(atoi(argv[2]));
    } else {
        count = atoi(argv[1]);
        from = calloc((size_t)count, sizeof *from);
        into = calloc((size_t)count, sizeof *into);
        measure(atoi(argv[2]));
    }
    MPI_Finalize();
    return 0;
}
