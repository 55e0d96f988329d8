// SPDX-License-Identifier: BSD-3-Clause
// Errors of nonblocking calls where the program goes on: in the call, if MPI forbids its arguments; in MPI_Wait, if a
// message is longer than its receiver expects. Each rank prints the classes of both.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, in_wait = 0, in_call = 0;
    static double data[1000];
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int begun = MPI_Ibcast(data, rank == 0 ? 1000 : 10, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &in_wait);
    MPI_Error_class(MPI_Ibcast(data, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request), &in_call);
    printf("rank %d: begun %d, in the wait %s, in the call %s\n", rank, begun,
           in_wait == MPI_SUCCESS        ? "nothing"
           : in_wait == MPI_ERR_TRUNCATE ? "MPI_ERR_TRUNCATE"
                                         : "another error",
           in_call == MPI_ERR_COUNT ? "MPI_ERR_COUNT" : "another error, or none");
    MPI_Finalize();
    return 0;
}
