// SPDX-License-Identifier: BSD-3-Clause
// Calls of all sorts, a known number of each, on four ranks.
#include <mpi.h>
#include <stdio.h>

enum { ranks = 4, many = 3000 };

static void keep(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double a[ranks * 100], b[ranks * 100];
    const int counts[ranks] = {1, 2, 3, 4}, offsets[ranks] = {0, 1, 3, 6};

    MPI_Comm row, grid;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_set_name(row, "row");
    for (int i = 0; i < many; ++i) MPI_Bcast(a, 1 + i % 2 * 99, MPI_DOUBLE, 1, row);  // in two classes
    MPI_Op op;
    MPI_Op_create(keep, 0, &op);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Allreduce(a, b, 5, pair, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Allgather(a, 10, MPI_DOUBLE, b, 10, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Scatter(a, 7, MPI_DOUBLE, b, 7, MPI_DOUBLE, 3, MPI_COMM_WORLD);
    MPI_Gatherv(a, counts[rank], MPI_DOUBLE, b, counts, offsets, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Iallreduce(a, b, 4, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int size[1] = {ranks}, periodic[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &grid);
    MPI_Neighbor_allgather(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, grid);
    for (int i = 0; i < 3; ++i) {  // communicators that come and go
        MPI_Comm copy;
        MPI_Comm_dup(row, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
    if (rank == 0) MPI_Send(a, 20, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(b, 20, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&row);
#if MPI_VERSION >= 4
    MPI_Request persistent;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    MPI_Start(&persistent);
    MPI_Waitall(1, &persistent, MPI_STATUSES_IGNORE);
    MPI_Request_free(&persistent);
#endif

    MPI_Finalize();
    return 0;
}
