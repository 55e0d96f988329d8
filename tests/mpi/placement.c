// SPDX-License-Identifier: BSD-3-Clause
// Every rank says where it is and with whom: "rank size host node-size", then whether a scan over all is right.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, node_size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_free(&node);
    char host[256];
    gethostname(host, sizeof host);
    printf("placed %d %d %s %d\n", rank, size, host, node_size);

    long mine = rank, before = -1, expected = (long)rank * (rank - 1) / 2;
    MPI_Exscan(&mine, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int wrong = rank > 0 && before != expected, all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", all_wrong);
    MPI_Finalize();
    return 0;
}
