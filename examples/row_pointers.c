/* SPDX-License-Identifier: BSD-3-Clause */
/* Row pointers of a sparse matrix (CSR) from the lengths of its rows. The rows lie on all ranks, as many as each has;
   row_start[i] is where row i begins among the non-zeros of the whole matrix, and the last one where this rank's end.
   Written twice: by hand with MPI_Exscan, and by rondo_prefix_total. Rank 0 prints how many rows and non-zeros there
   are.

     mpiexec -n 4 ./row_pointers [ROWS] */
#include <mpi.h>
#include <rondo_prefix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of non-zeros in the whole matrix. */
static long row_pointers_by_hand(const long* lengths, long* row_start, int rows) {
    long sum = 0, before = 0, total;
    for (int i = 0; i < rows; ++i) {
        row_start[i] = sum;
        sum += lengths[i];
    }
    MPI_Exscan(&sum, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); /* leaves rank 0's as it is */
    for (int i = 0; i < rows; ++i) row_start[i] += before;
    row_start[rows] = before + sum;
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* The same, but that a rank without rows learns nothing of where others begin. */
static long row_pointers(const long* lengths, long* row_start, int rows) {
    long total;
    rondo_prefix_total(lengths, row_start, &total, rows, MPI_LONG, MPI_SUM, 1, MPI_COMM_WORLD);
    if (rows > 0) row_start[rows] = row_start[rows - 1] + lengths[rows - 1];
    return total;
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long all_rows = argc > 1 ? atol(argv[1]) : 1000000;
    const long first = all_rows * rank / size, end = all_rows * (rank + 1) / size;
    const int rows = (int)(end - first);

    long* const lengths = malloc((size_t)(rows + 1) * sizeof *lengths);
    long* const by_hand = malloc((size_t)(rows + 1) * sizeof *by_hand);
    long* const row_start = malloc((size_t)(rows + 1) * sizeof *row_start);
    if (lengths == NULL || by_hand == NULL || row_start == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rows; ++i) lengths[i] = (first + i) * 7919 % 31;

    const long expected = row_pointers_by_hand(lengths, by_hand, rows);
    const long total = row_pointers(lengths, row_start, rows);
    const size_t bytes = rows > 0 ? (size_t)(rows + 1) * sizeof *row_start : 0;
    int right = total == expected && memcmp(by_hand, row_start, bytes) == 0, all_right;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld rows, %ld non-zeros%s\n", all_rows, total, all_right ? "" : ", WRONG");

    free(lengths);
    free(by_hand);
    free(row_start);
    MPI_Finalize();
    return all_right ? 0 : 1;
}
