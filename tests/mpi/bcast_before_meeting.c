// SPDX-License-Identifier: BSD-3-Clause
// On each new communicator, long broadcasts by the library, then a scan that Rondo serves, for which the ranks have to
// agree on something: ranks that are ahead must not spoil what others still take from the broadcast. Prints how many
// elements were wrong.
#include <mpi.h>
#include <stdio.h>

enum { elements = 20000, communicators = 40 };

static int vector[elements];

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int wrong = 0, all = 0, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = 0; number < communicators; ++number) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < elements; ++i) vector[i] = rank == 1 ? i + number : -1;
        MPI_Bcast(vector, elements, MPI_INT, 1, comm);
        int sum = 0;
        MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += rank > 0 && sum != rank * (rank - 1) / 2;
        for (int i = 0; i < elements; ++i) wrong += vector[i] != i + number;
        MPI_Comm_free(&comm);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
