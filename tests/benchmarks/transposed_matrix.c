// SPDX-License-Identifier: BSD-3-Clause
// Transposes a matrix that is spread over the ranks by MPI_Alltoallw, with subarrays as datatypes, as programs do for
// Fourier transforms. Arguments: rows of the matrix, a multiple of the ranks, and calls. Prints microseconds of a call.
//
//   mpicc -O2 tests/benchmarks/transposed_matrix.c -o transposed_matrix
//   mpiexec -n 2 ./transposed_matrix 64 3000
//   rondo run --guard off --rules none --use alltoallv=linear -- mpiexec -n 2 ./transposed_matrix 64 3000
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 64, warmup = 10 };

static MPI_Datatype block_of(int rows, int columns, int edge, int first_row, int first_column) {
    const int whole[] = {rows, columns}, block[] = {edge, edge}, first[] = {first_row, first_column};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, whole, block, first, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char** argv) {
    int rank, ranks, counts[most_ranks], places[most_ranks];
    MPI_Datatype sent[most_ranks], received[most_ranks];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rows = argc > 1 ? atoi(argv[1]) : 64, calls = argc > 2 ? atoi(argv[2]) : 1000, edge = rows / ranks;
    if (ranks > most_ranks || edge * ranks != rows || calls < 1) MPI_Abort(MPI_COMM_WORLD, 1);
    const size_t numbers = (size_t)rows * (size_t)edge;
    double *const input = calloc(numbers, sizeof *input), *const output = calloc(numbers, sizeof *output);
    for (int other = 0; other < ranks; ++other) {
        counts[other] = 1;
        places[other] = 0;
        sent[other] = block_of(edge, rows, edge, 0, other * edge);
        received[other] = block_of(rows, edge, edge, other * edge, 0);
    }
    double start = 0;
    for (int call = -warmup; call < calls; ++call) {
        if (call == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        MPI_Alltoallw(input, counts, places, sent, output, counts, places, received, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%.2f\n", (MPI_Wtime() - start) / calls * 1e6);
    for (int other = 0; other < ranks; ++other) {
        MPI_Type_free(&sent[other]);
        MPI_Type_free(&received[other]);
    }
    free(input);
    free(output);
    MPI_Finalize();
}
