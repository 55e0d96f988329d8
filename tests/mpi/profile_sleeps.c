// SPDX-License-Identifier: BSD-3-Clause
// Ranks sleep for known times before collectives. Prints for each collective and rank, by the program's own clock, what
// it waited in it: until the last rank began it on which the rank depends.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ranks = 4, rounds = 2, subjects = 5 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int rank;
static double in = 1, out, parts[ranks];

static void allreduce(void) { MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(&out, 1, MPI_DOUBLE, 2, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void scan(void) { MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(&in, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD); }

// On whom a rank depends.
static int on_all(int other) { return other >= 0; }
static int on_root_of_bcast(int other) { return other == 2; }
static int on_lower(int other) { return other <= rank; }

static const struct {
    const char* name;
    void (*call)(void);
    int (*depends)(int other);
    int milliseconds[ranks];
} all[subjects] = {
    {"MPI_Allreduce", allreduce, on_all, {0, 100, 200, 300}},
    {"MPI_Bcast", bcast, on_root_of_bcast, {0, 100, 300, 200}},
    {"MPI_Reduce", reduce, on_all, {0, 100, 200, 300}},
    {"MPI_Scan", scan, on_lower, {100, 300, 0, 200}},
    {"MPI_Gather", gather, on_all, {300, 100, 200, 0}},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double waited[subjects] = {0};
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < subjects; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
            usleep((unsigned)all[i].milliseconds[rank] * 1000);
            double entry = now(), entries[ranks], complete = 0;
            all[i].call();
            const double end = now();
            MPI_Allgather(&entry, 1, MPI_DOUBLE, entries, 1, MPI_DOUBLE, MPI_COMM_WORLD);
            for (int other = 0; other < ranks; ++other) {
                if ((all[i].depends(other) || other == rank) && entries[other] > complete) complete = entries[other];
            }
            waited[i] += (complete < end ? complete : end) - entry;
        }
    }
    for (int i = 0; i < subjects; ++i) {
        for (int other = 0; other < ranks; ++other) {
            double theirs = waited[i];
            MPI_Bcast(&theirs, 1, MPI_DOUBLE, other, MPI_COMM_WORLD);
            if (rank == 0) printf("%s %d %.9f\n", all[i].name, other, theirs);
        }
    }
    MPI_Finalize();
    return 0;
}
