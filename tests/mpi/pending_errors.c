// SPDX-License-Identifier: BSD-3-Clause
// Errors of nonblocking and persistent calls where the program goes on: in the call, if MPI forbids its arguments; in
// MPI_Wait, if a message is longer than its receiver expects, at every start. Each rank prints the classes of both.
#include <mpi.h>
#include <stdio.h>

static double data[1000];
static int rank;

static const char* name(int error) {
    int error_class = 0;
    MPI_Error_class(error, &error_class);
    return error_class == MPI_SUCCESS        ? "nothing"
           : error_class == MPI_ERR_TRUNCATE ? "MPI_ERR_TRUNCATE"
           : error_class == MPI_ERR_COUNT    ? "MPI_ERR_COUNT"
                                             : "another error";
}

static void check_persistent(void) {
    MPI_Request request;
    const int made =
        MPI_Bcast_init(data, rank == 0 ? 1000 : 10, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    int started[2];
    for (int start = 0; start < 2; ++start) {
        started[start] = MPI_Start(&request);
        if (started[start] == MPI_SUCCESS) started[start] = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    const int in_call = MPI_Bcast_init(data, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    printf("rank %d: made with %s, in the waits %s %s, in the call %s\n", rank, name(made), name(started[0]),
           name(started[1]), name(in_call));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int begun = MPI_Ibcast(data, rank == 0 ? 1000 : 10, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    const int in_wait = MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int in_call = MPI_Ibcast(data, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    printf("rank %d: begun %d, in the wait %s, in the call %s\n", rank, begun, name(in_wait), name(in_call));
    check_persistent();
    MPI_Finalize();
    return 0;
}
