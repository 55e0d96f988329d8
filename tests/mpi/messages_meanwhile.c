// SPDX-License-Identifier: BSD-3-Clause
// One rank blocks in a long message of the program, whose receiver waits in a collective for that rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 1 << 20, rounds = 10 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* data = malloc(count * sizeof *data);
    for (int round = 0; round < rounds; ++round) {
        const int sender = round % 2;
        int sum = 0, said = round;
        MPI_Request request;
        if (rank == sender) {
            for (int i = 0; i < count; ++i) data[i] = i + round;
            MPI_Send(data, count, MPI_INT, 1 - sender, 0, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(data, count, MPI_INT, sender, 0, MPI_COMM_WORLD, &request);
        }
        // Several messages, then one alone.
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&said, 1, MPI_INT, sender, MPI_COMM_WORLD);
        if (rank != sender) MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (sum != 2 * round || said != round || data[count - 1] != count - 1 + round) ++wrong;
    }
    free(data);
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", all_wrong);
    MPI_Finalize();
    return 0;
}
