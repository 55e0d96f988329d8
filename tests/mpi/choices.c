// SPDX-License-Identifier: BSD-3-Clause
// Changes algorithms while it runs, forth and back, and checks every result; says what Rondo answered.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../../include/rondo.h"

enum { usual = 100, most_segments = 131072, largest = most_segments + 1 };

static int (*choose)(const char*, const char*, char*, int);
static long long (*left)(const char*, char*, int);
static int rank, wrong;
static int input[largest], output[largest];

static void scan_once(int count) {
    for (int i = 0; i < count; ++i) input[i] = 1000 * rank + i;
    memset(output, -1, sizeof output);
    MPI_Exscan(input, output, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count && rank > 0; ++i) {
        wrong += output[i] != rank * i + 1000 * (rank * (rank - 1) / 2);
    }
}

static void say(const char* what, long long answer, const char* message) {
    if (rank == 0) printf("%s: %lld: %s\n", what, answer, message);
}

int main(int argc, char** argv) {
    char message[256] = "";
    choose = (int (*)(const char*, const char*, char*, int))dlsym(RTLD_DEFAULT, "rondo_choose");
    left = (long long (*)(const char*, char*, int))dlsym(RTLD_DEFAULT, "rondo_left_to_library");
    if (choose == NULL || left == NULL) return 1;
    const int early = choose("exscan", "doubling_123", message, sizeof message);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("before MPI_Init", early, message);

    scan_once(usual);
    const char* choices[] = {"doubling_123", "linear_pipeline:segment=64", "native", "two_op_doubling"};
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 4; ++i) {
            wrong += choose("exscan", choices[i], message, sizeof message) != 0;
            scan_once(usual);
            const int is_native = i == 2;
            wrong += left("exscan", message, sizeof message) != is_native;
        }
    }
    // More segments than the algorithm takes.
    wrong += choose("exscan", "linear_pipeline:segment=1", message, sizeof message) != 0;
    scan_once(largest);
    const long long refused = left("exscan", message, sizeof message);
    say("refused", refused, message);
    say("unknown", choose("exscan", "doubling_132", message, sizeof message), message);
    say("unknown collective", left("exscn", message, sizeof message), message);
    say("short", choose("exscan", "nonsense", message, 8), message);
    wrong += choose("exscan", "", message, sizeof message) != 0;
    scan_once(usual);

    say("nodes", choose("exscan", "full_lane", message, sizeof message), message);
    scan_once(usual);

    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong != 0;
}
