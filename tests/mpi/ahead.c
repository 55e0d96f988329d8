// SPDX-License-Identifier: BSD-3-Clause
// Ranks that go on after a collective while others can come to it only then: MPI forbids to rely on that, and libraries
// let it happen with short vectors. Prints how often a result was wrong.
// With a second argument they do so on that many communicators of all but the last rank, one after the other.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failures_on(MPI_Comm comm, int calls) {
    int rank = 0, size = 1, failures = 0, word = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < calls; ++call) {
        // The last rank comes when the root has gone on.
        int value = rank == 0 ? call : -1;
        if (rank == size - 1) MPI_Recv(&word, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Bcast(&value, 1, MPI_INT, 0, comm);
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, size - 1, 0, comm);
        failures += value != call;
        // The root comes when the last rank has gone on.
        int sum = 0;
        if (rank == 0) MPI_Recv(&word, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE);
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
        if (rank == size - 1) MPI_Send(&word, 1, MPI_INT, 0, 1, comm);
        failures += rank == 0 && sum != size * (size - 1) / 2;
        // The same with a sum of fractions.
        double fraction = 0.5, total = 0;
        if (rank == size - 1) MPI_Recv(&word, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
        MPI_Exscan(&fraction, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, size - 1, 2, comm);
        failures += rank > 0 && total != 0.5 * rank;
    }
    return failures;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int calls = argc > 1 ? atoi(argv[1]) : 10, parts = argc > 2 ? atoi(argv[2]) : 0;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int failures = parts == 0 ? failures_on(MPI_COMM_WORLD, calls) : 0;
    for (int part = 0; part < parts; ++part) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1 ? 0 : MPI_UNDEFINED, 0, &comm);
        if (comm == MPI_COMM_NULL) continue;
        MPI_Bcast(&part, 1, MPI_INT, 0, comm);  // in Rondo's first call on a communicator ranks wait for each other
        failures += failures_on(comm, calls);
        MPI_Comm_free(&comm);
    }
    int most = 0;
    MPI_Reduce(&failures, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", most);
    MPI_Finalize();
    return most != 0;
}
