// SPDX-License-Identifier: BSD-3-Clause
// Calls that find nothing prepared: on communicators that live for a moment, or with another count each time.
// Prints microseconds of the slowest rank, a line each. Usage: changing_calls (split|dup|differing|repeated)
// REPETITIONS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 1 << 20, shortest = 8 << 10 };

static int rank, size;
static char* vector;

static void reduce(MPI_Comm comm, int times) {
    long own = rank, sum = 0;
    for (int i = 0; i < times; ++i) MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
}

static void split(int call) {
    (void)call;
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part);
    reduce(part, 4);
    MPI_Comm_free(&part);
}

static void duplicate(int call) {
    (void)call;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    reduce(copy, 1);
    MPI_Comm_free(&copy);
}

// From 8 KiB on, never the same one twice in a row; both kinds move as many bytes.
static int length(int call) { return shortest + call % 4096 * 2; }
static void differing(int call) { MPI_Bcast(vector, length(call), MPI_CHAR, call % size, MPI_COMM_WORLD); }
static void repeated(int call) { MPI_Bcast(vector, length(2048), MPI_CHAR, call % size, MPI_COMM_WORLD); }

static const struct {
    const char* name;
    void (*call)(int);
} kinds[] = {{"split", split}, {"dup", duplicate}, {"differing", differing}, {"repeated", repeated}};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    vector = calloc(longest, 1);
    void (*call)(int) = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (argc == 3 && strcmp(argv[1], kinds[i].name) == 0) call = kinds[i].call;
    }
    if (call == NULL) {
        fprintf(stderr, "usage: %s (split|dup|differing|repeated) REPETITIONS\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    const int batches = 15, each = atoi(argv[2]) / batches + 1;
    for (int i = 0; i < 50; ++i) call(i);
    for (int batch = 0; batch < batches; ++batch) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int i = 0; i < each; ++i) call(batch * each + i);
        const double own = (MPI_Wtime() - start) / each * 1e6;
        double slowest = 0;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%.3f\n", slowest);
    }
    free(vector);
    MPI_Finalize();
    return 0;
}
