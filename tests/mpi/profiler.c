// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool as MPI foresees them: counts the program's calls and passes them on to PMPI_. It is built twice, as
// a preload library and as part of the program.
#include <mpi.h>
#include <stdio.h>

static int bcasts = 0;
static int exscans = 0;
static int reduces = 0;
static int scans = 0;

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
    ++bcasts;
    return PMPI_Bcast(buffer, count, type, root, communicator);
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
    ++exscans;
    return PMPI_Exscan(send, receive, count, type, op, communicator);
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm communicator) {
    ++reduces;
    return PMPI_Reduce(send, receive, count, type, op, root, communicator);
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
    ++scans;
    return PMPI_Scan(send, receive, count, type, op, communicator);
}

#if MPI_VERSION >= 4
int MPI_Exscan_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm communicator) {
    ++exscans;
    return PMPI_Exscan_c(send, receive, count, type, op, communicator);
}
#endif

int MPI_Finalize(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("tool on rank %d: %d bcasts, %d exscans, %d reduces, %d scans\n", rank, bcasts, exscans, reduces, scans);
    fflush(stdout);
    return PMPI_Finalize();
}
