/* SPDX-License-Identifier: BSD-3-Clause */
/* Times collectives between the ranks of one node. Prints for each collective and count: its name, the bytes of a
 * vector, and the median over repetitions of the longest time of a rank, in microseconds. Ranks start together: they
 * meet in memory that they share, which takes less than any collective of a library. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    _Alignas(128) atomic_long turn;
} Line;

static Line* lines[64];
static int rank, size;
static long turn;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void meet(void) {
    atomic_store_explicit(&lines[rank]->turn, ++turn, memory_order_release);
    for (int i = 0; i < size; ++i) {
        for (long polls = 0; atomic_load_explicit(&lines[i]->turn, memory_order_acquire) < turn; ++polls) {
            if (polls > 10000) sched_yield();
        }
    }
}

static int *input, *output, counts[64];

static void call(const char* collective, int count) {
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(collective, "allreduce")) MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "bcast")) MPI_Bcast(output, count, MPI_INT, 0, world);
    else if (!strcmp(collective, "reduce")) MPI_Reduce(input, output, count, MPI_INT, MPI_SUM, 0, world);
    else if (!strcmp(collective, "scan")) MPI_Scan(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "exscan")) MPI_Exscan(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "allgather"))
        MPI_Allgather(input, counts[size - 1], MPI_INT, output, counts[size - 1], MPI_INT, world);
    else if (!strcmp(collective, "reduce_scatter")) MPI_Reduce_scatter(input, output, counts, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "barrier")) MPI_Barrier(world);
    else MPI_Abort(world, 2);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) { /* <shortest> <longest> <milliseconds for each> <collective>... */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 5 || size > 64) MPI_Abort(MPI_COMM_WORLD, 2);
    void* own;
    MPI_Win window;
    MPI_Win_allocate_shared(sizeof(Line), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    memset(own, 0, sizeof(Line));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &lines[i]);
    }
    const size_t longest = strtoul(argv[2], NULL, 10), shortest = strtoul(argv[1], NULL, 10);
    const double budget = 1e3 * atof(argv[3]);
    input = malloc(longest + 256);
    output = malloc(longest + 256);
    for (size_t i = 0; i < longest / sizeof(int); ++i) input[i] = output[i] = (int)i + rank;
    static double times[5000], worst[5000];
    for (int word = 4; word < argc; ++word) {
        for (size_t bytes = strcmp(argv[word], "barrier") ? shortest : 0; bytes <= longest; bytes *= 4) {
            const int count = (int)(bytes / sizeof(int));
            for (int i = 0; i < size; ++i) counts[i] = count / size + (i < count % size);
            if (count < size && !strcmp(argv[word], "allgather")) counts[size - 1] = 1; /* or nothing would be sent */
            double first = 1e30;
            for (int i = 0; i < 5; ++i) {
                meet();
                const double start = now();
                call(argv[word], count);
                const double took = now() - start;
                first = took < first ? took : first;
            }
            MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            int repetitions = (int)(budget / (first + 1));
            if (repetitions < 7) repetitions = 7;
            if (repetitions > 5000) repetitions = 5000;
            for (int i = 0; i < repetitions; ++i) {
                meet();
                const double start = now();
                call(argv[word], count);
                times[i] = now() - start;
            }
            MPI_Reduce(times, worst, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (rank == 0) {
                qsort(worst, (size_t)repetitions, sizeof(double), compare);
                printf("%s %zu %.3f\n", argv[word], bytes, worst[repetitions / 2]);
            }
            if (bytes == 0) break;
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
