// SPDX-License-Identifier: BSD-3-Clause
// Floating-point sums by every collective that has an operator, every second one in place. Prints for each whether all
// of its results had the same bits, and a hash of these.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 40, part = 300, most_ranks = 8 };

static int rank, size;
static double input[part * most_ranks], output[part * most_ranks];

static uint64_t hash_of(const double* numbers, int count) {
    uint64_t hash = 14695981039346656037U;
    const unsigned char* bytes = (const unsigned char*)numbers;
    for (size_t i = 0; i < (size_t)count * sizeof *numbers; ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
    return hash;
}

static void call(const char* collective, const void* from, int root) {
    const int whole = part * size, is_root = rank == root;
    int counts[most_ranks];
    for (int i = 0; i < size; ++i) counts[i] = part;
    if (strcmp(collective, "allreduce") == 0) {
        MPI_Allreduce(from, output, whole, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(collective, "reduce") == 0) {
        MPI_Reduce(from == MPI_IN_PLACE && !is_root ? output : from, is_root ? output : NULL, whole, MPI_DOUBLE,
                   MPI_SUM, root, MPI_COMM_WORLD);
    } else if (strcmp(collective, "scan") == 0) {
        MPI_Scan(from, output, whole, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(collective, "exscan") == 0) {
        MPI_Exscan(from, output, whole, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(collective, "reduce_scatter") == 0) {
        MPI_Reduce_scatter(from, output, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Reduce_scatter_block(from, output, part, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/// Elements of this rank's result.
static int length_of(const char* collective, int root) {
    if (strcmp(collective, "reduce") == 0) return rank == root ? part * size : 0;
    if (strcmp(collective, "exscan") == 0) return rank > 0 ? part * size : 0;
    return strncmp(collective, "reduce_scatter", 14) == 0 ? part : part * size;
}

int main(int argc, char** argv) {
    static const char* const collectives[] = {"allreduce", "reduce",         "scan",
                                              "exscan",    "reduce_scatter", "reduce_scatter_block"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int root = size - 1;
    for (size_t which = 0; which < sizeof collectives / sizeof *collectives; ++which) {
        uint64_t first = 0;
        int changes = 0;
        for (int number = 0; number < calls; ++number) {
            const int in_place = number % 2;
            double* const from = in_place ? output : input;
            for (int i = 0; i < part * size; ++i) from[i] = 1.0 / (3 + 7 * rank + i % 101);
            call(collectives[which], in_place ? MPI_IN_PLACE : input, root);
            const uint64_t hash = hash_of(output, length_of(collectives[which], root));
            if (number == 0) first = hash;
            changes += hash != first;
        }
        uint64_t all = 0;
        int most = 0;
        MPI_Reduce(&first, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
        MPI_Reduce(&changes, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %d %llu\n", collectives[which], most, (unsigned long long)all);
    }
    MPI_Finalize();
    return 0;
}
