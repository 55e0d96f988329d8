/* SPDX-License-Identifier: BSD-3-Clause */
/* Times MPI_Gatherv or MPI_Scatterv natively and by algorithms of Rondo, in turn within one run, where all processes
 * have one clock: on an emulated cluster, or on one node. Ranks start together; a call takes until the last of them
 * returns. docs/benchmarks/lanes.md shows what it wrote:
 *
 *   mpicc -O2 parts_of_the_root.c -o parts_of_the_root
 *   rondo run --cluster 8x4:2ms:100Mbit --mpi openmpi --rules none -- ./parts_of_the_root gatherv 11 native linear
 *
 * Arguments: gatherv or scatterv, repetitions, then what is measured; ratios are to the first. Parts are equal, or
 * skewed: every fifth empty, the others from short to long. For each, bytes of a part in the mean. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_repetitions = 1000, most_choices = 16 };

typedef int Choose(const char* collective, const char* choice, char* message, int size);

static int rank, size, *counts, *places;
static char *whole, *part;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void choose(const char* collective, const char* choice) {
    static Choose* function;
    char message[256] = "Rondo is not loaded";
    if (function == NULL) function = (Choose*)dlsym(RTLD_DEFAULT, "rondo_choose");
    if (function == NULL && strcmp(choice, "native") == 0) return;
    if (function != NULL && function(collective, choice, message, sizeof message) == 0) return;
    if (rank == 0) fprintf(stderr, "%s: %s\n", choice, message);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static double seconds(const char* collective) {
    double start = now() + 0.03, end, latest;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    while (now() < start) {
        const struct timespec moment = {.tv_nsec = 20000};
        nanosleep(&moment, NULL);
    }
    if (strcmp(collective, "gatherv") == 0)
        MPI_Gatherv(part, counts[rank], MPI_CHAR, whole, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
    else MPI_Scatterv(whole, counts, places, MPI_CHAR, part, counts[rank], MPI_CHAR, 0, MPI_COMM_WORLD);
    end = now() - start;
    MPI_Allreduce(&end, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return latest;
}

/* Returns the bytes of all parts. */
static int lay_out(int each, int skewed) {
    int next = 0;
    for (int i = 0; i < size; ++i) {
        counts[i] = skewed ? (i % 5 == 4 ? 0 : (int)(2.5 * each * (i + 1) / (size + 1))) : each;
        places[i] = next;
        next += counts[i];
    }
    return next;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) {
    static double times[most_choices][most_repetitions];
    const int repetitions = argc > 2 ? atoi(argv[2]) : 0, choices = argc - 3;
    const int each[] = {8, 1 << 10, 16 << 10, 128 << 10};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (choices < 1 || choices > most_choices || repetitions < 1 || repetitions > most_repetitions) {
        if (rank == 0) fprintf(stderr, "expected: gatherv|scatterv REPETITIONS CHOICE [CHOICE ...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    counts = malloc((size_t)size * sizeof *counts);
    places = malloc((size_t)size * sizeof *places);
    const size_t most = 3 * (size_t)size * (128 << 10);
    whole = calloc(most, 1);
    part = calloc(most / (size_t)size, 1);
    for (int skewed = 0; skewed < 2; ++skewed) {
        for (size_t length = 0; length < sizeof each / sizeof *each; ++length) {
            const int all = lay_out(each[length], skewed);
            for (int repetition = -1; repetition < repetitions; ++repetition) { /* the first does not count */
                for (int turn = 0; turn < choices; ++turn) {
                    const int choice = (turn + repetition + 1) % choices;
                    choose(argv[1], argv[3 + choice]);
                    const double time = seconds(argv[1]);
                    if (repetition >= 0) times[choice][repetition] = time;
                }
            }
            for (int choice = 0; choice < choices && rank == 0; ++choice) {
                static double native;
                qsort(times[choice], (size_t)repetitions, sizeof(double), compare);
                const double median = times[choice][repetitions / 2];
                if (choice == 0) native = median;
                printf("%s %s %d ranks %7d B %8d B in all %-16s %9.3f ms (%.3f to %.3f) %.2f\n", argv[1],
                       skewed ? "skewed" : "equal ", size, each[length], all, argv[3 + choice], 1e3 * median,
                       1e3 * times[choice][0], 1e3 * times[choice][repetitions - 1], median / native);
                fflush(stdout);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
