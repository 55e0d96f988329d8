// SPDX-License-Identifier: BSD-3-Clause
// No rank leaves a barrier before the last one has entered: by the clock that all ranks of a machine share. Every rank
// comes late in its turn; many barriers follow each other without a pause; messages of the program are under way
// meanwhile. On the world, the world in reverse order, and its halves.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { in_a_row = 60, most_late = 64 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void come_late(void) {
    const struct timespec while_ = {0, 3000000};
    nanosleep(&while_, NULL);
}

/// How many of the barriers somebody left too early.
static int early(const double* entered, const double* left, int barriers, MPI_Comm comm) {
    double* const last = malloc(sizeof(double) * (size_t)barriers);
    double* const first = malloc(sizeof(double) * (size_t)barriers);
    PMPI_Allreduce(entered, last, barriers, MPI_DOUBLE, MPI_MAX, comm);
    PMPI_Allreduce(left, first, barriers, MPI_DOUBLE, MPI_MIN, comm);
    int found = 0;
    for (int i = 0; i < barriers; ++i) found += first[i] < last[i];
    free(last);
    free(first);
    return found;
}

static int check(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    double entered[most_late + in_a_row], left[most_late + in_a_row];
    int wrong = 0;
    for (int i = 0; i < size + in_a_row; ++i) {
        const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
        int sent = i, received = -1;
        MPI_Request requests[2];
        if (i % 20 == 0) {
            MPI_Irecv(&received, 1, MPI_INT, previous, 0, comm, &requests[0]);
            MPI_Isend(&sent, 1, MPI_INT, next, 0, comm, &requests[1]);
        }
        if (rank == i) come_late();
        entered[i] = now();
        wrong += MPI_Barrier(comm) != MPI_SUCCESS;
        left[i] = now();
        if (i % 20 == 0) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            wrong += received != i;
        }
    }
    return wrong + early(entered, left, size + in_a_row, comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, failures = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed, half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    failures += check(MPI_COMM_WORLD) + check(reversed) + check(half);
    // For the library to deal with.
    failures += MPI_Barrier(MPI_COMM_SELF) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    failures += MPI_Barrier(MPI_COMM_NULL) == MPI_SUCCESS;
    if (size > 1) {
        MPI_Comm inter;
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
        failures += MPI_Barrier(inter) != MPI_SUCCESS;
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    int all = 0;
    PMPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", all);
    MPI_Finalize();
    return 0;
}
