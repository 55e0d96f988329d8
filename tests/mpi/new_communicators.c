// SPDX-License-Identifier: BSD-3-Clause
// What a library may number for each communicator, on MPI_COMM_WORLD: the making of communicators and, with an
// argument, nonblocking collectives. Beside it, messages of any source.
#include <mpi.h>
#include <stdio.h>

static int sum_over(MPI_Comm comm, int value) {
    int sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int sum = 0;
    if (argc > 1) {
        MPI_Request request;
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }

    MPI_Comm twin;
    MPI_Comm half;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    const int sum_of_twin = sum_over(twin, rank);
    const int sum_of_half = sum_over(half, rank);

    // Each rank but the first sends it a message.
    const int tag = 7;
    int received = 0;
    if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    for (int sender = 1; rank == 0 && sender < size; ++sender) {
        int number = 0;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        received += number;
    }
    printf("%d: %d %d %d %d\n", rank, sum, sum_of_twin, sum_of_half, received);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
