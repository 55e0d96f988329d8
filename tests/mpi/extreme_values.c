// SPDX-License-Identifier: BSD-3-Clause
// Sums, products, minima and maxima of integers of all lengths at their extremes, where libraries may saturate and
// Rondo wraps around, and minima and maxima of floating-point numbers, with NaN and zeros of both signs: each of them
// many times in a row. Prints how many of these changed within the run.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { calls = 80, bytes = 8 * 48 };

static unsigned char input[bytes], output[bytes], first[bytes];

static int changes(MPI_Datatype type, MPI_Op op) {
    int size = 0, changed = 0;
    MPI_Type_size(type, &size);
    for (int call = 0; call < calls; ++call) {
        MPI_Allreduce(input, output, bytes / size, type, op, MPI_COMM_WORLD);
        if (call == 0) memcpy(first, output, bytes);
        changed += memcmp(first, output, bytes) != 0;
    }
    return changed > 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, changed = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Datatype integers[] = {MPI_UINT8_T,  MPI_INT8_T,  MPI_UINT16_T, MPI_INT16_T,
                                     MPI_UINT32_T, MPI_INT32_T, MPI_UINT64_T, MPI_INT64_T};
    const MPI_Op operators[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
    for (int i = 0; i < bytes; ++i) input[i] = (unsigned char)(i % 3 == 0 ? 100 + 60 * rank : 255 - i * rank);
    for (int type = 0; type < 8; ++type) {
        for (int op = 0; op < 4; ++op) changed += changes(integers[type], operators[op]);
    }
    const double extremes[] = {NAN, 0.0, -0.0, 1.0, -INFINITY};
    for (int i = 0; i < bytes / 8; ++i) memcpy(input + 8 * i, &extremes[(i + (i / 5 + 1) * rank) % 5], 8);
    for (int op = 0; op < 2; ++op) changed += changes(MPI_DOUBLE, operators[op]);
    MPI_Allreduce(&changed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("changes %d\n", all);
    MPI_Finalize();
    return all != 0;
}
