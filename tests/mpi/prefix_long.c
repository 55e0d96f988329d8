// SPDX-License-Identifier: BSD-3-Clause
// More elements on one rank than an int counts, 2^31 + 7 of a byte each, and five on the other: sums of both kinds
// against a loop. 4 GiB of memory. prefix_long RANK: which one has them.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rondo_prefix.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int is_long = rank == (argc > 1 ? atoi(argv[1]) : 1);
    const MPI_Count count = is_long ? ((MPI_Count)1 << 31) + 7 : 5;
    uint8_t* in = malloc((size_t)count);
    uint8_t* sums = malloc((size_t)count);
    if (in == NULL || sums == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    uint8_t own = 0, before = 0, all = 0, total = 0;
    for (MPI_Count i = 0; i < count; ++i) {
        in[i] = (uint8_t)(i * 7 + rank + (i >> 20));
        own = (uint8_t)(own + in[i]);
    }
    MPI_Exscan(&own, &before, 1, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before = 0;
    MPI_Allreduce(&own, &all, 1, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
    long long wrong = 0;
    uint8_t sum = before;
    rondo_prefix_total(in, sums, &total, count, MPI_UINT8_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (MPI_Count i = 0; i < count; ++i) {
        sum = (uint8_t)(sum + in[i]);
        wrong += sum != sums[i];
    }
    wrong += total != all;
    rondo_prefix(MPI_IN_PLACE, in, count, MPI_UINT8_T, MPI_SUM, 1, MPI_COMM_WORLD);
    wrong += in[0] != before;
    for (MPI_Count i = 1; i < count; ++i) wrong += in[i] != sums[i - 1];
    printf("rank %d: %lld elements, %lld wrong\n", rank, (long long)count, wrong);
    free(in);
    free(sums);
    MPI_Finalize();
    return wrong != 0;
}
