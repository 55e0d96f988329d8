// SPDX-License-Identifier: BSD-3-Clause
// A wrong prefix sum on rank 1, in a program that has left the error handler as it is. It ends there.
#include <mpi.h>
#include <string.h>

#include "rondo_prefix.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* wrong = argc > 1 && rank == 1 ? argv[1] : "";
    const char* kind = argc > 1 ? argv[1] : "";
    double in[3] = {1, 2, 3}, out[3], total;
    const MPI_Count count = strcmp(wrong, "count") == 0 ? -3 : 3;
    const MPI_Op op = strcmp(wrong, "operator") == 0 ? MPI_OP_NULL : MPI_SUM;
    const int wants_total = strcmp(kind, "operator") == 0 || (strcmp(kind, "kinds") == 0 && rank == 0);
    if (wants_total) rondo_prefix_total(in, out, &total, count, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    else rondo_prefix(in, out, count, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
