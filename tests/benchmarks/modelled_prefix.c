// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of distributed arrays whose computation is modelled: a rank sleeps as long as its passes would take. So
// ranks that share a processor compute at the same time, as on a cluster. Messages are real.
//
//     modelled_prefix PLAN OUTPUT REPETITIONS
//
// PLAN has a line for each distribution: a name, seconds per element of the first and the second pass, and an element
// count for each rank. All of them are measured in turn, so many times. OUTPUT gets a line "name seconds" for each:
// from the common start until the last rank with elements has made its results. A wrong prefix ends the program.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { most_lines = 64 };

struct distribution {
    char name[64];
    double first_pass, second_pass;
    double* counts;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double seconds) {
    const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
    }
}

static int read_plan(const char* path, int ranks, struct distribution* plan) {
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int lines = 0;
    while (lines < most_lines) {
        struct distribution* each = &plan[lines];
        if (fscanf(file, "%63s %lf %lf", each->name, &each->first_pass, &each->second_pass) != 3) break;
        each->counts = malloc((size_t)ranks * sizeof(double));
        for (int rank = 0; rank < ranks; ++rank) {
            if (fscanf(file, "%lf", &each->counts[rank]) == 1) continue;
            fprintf(stderr, "modelled_prefix: %s: expected %d counts for %s\n", path, ranks, each->name);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        ++lines;
    }
    fclose(file);
    return lines;
}

/// The nodes of an emulated cluster share a clock.
static double common_start(int rank) {
    const double soon = 0.015;
    double start = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) start = now() + soon;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return start;
}

static double prefix_sum(const struct distribution* plan, int rank, double start) {
    const double count = plan->counts[rank];
    double total = count, prefix = 0, expected = 0;
    sleep_until(start + plan->first_pass * count);
    MPI_Exscan(&total, &prefix, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sleep_until(now() + plan->second_pass * count);
    const double end = count > 0 ? now() - start : 0;
    for (int before = 0; before < rank; ++before) expected += plan->counts[before];
    if (rank > 0 && prefix != expected) {
        fprintf(stderr, "modelled_prefix: rank %d has the prefix %g, expected %g\n", rank, prefix, expected);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return end;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) {
        if (rank == 0) fputs("usage: modelled_prefix PLAN OUTPUT REPETITIONS\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    prctl(PR_SET_TIMERSLACK, 1);
    struct distribution plan[most_lines];
    const int lines = read_plan(argv[1], ranks, plan);
    FILE* output = rank == 0 ? fopen(argv[2], "w") : NULL;
    for (int repetition = -1; repetition < atoi(argv[3]); ++repetition) {  // the first one is a warm-up
        for (int line = 0; line < lines; ++line) {
            const double end = prefix_sum(&plan[line], rank, common_start(rank));
            double last = 0;
            MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (output != NULL && repetition >= 0) fprintf(output, "%s %.9f\n", plan[line].name, last);
        }
    }
    if (output != NULL) fclose(output);
    for (int line = 0; line < lines; ++line) free(plan[line].counts);
    MPI_Finalize();
    return 0;
}
