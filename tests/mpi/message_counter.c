// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded behind Rondo: counts the messages of its collectives that it gives to the library, and the regions of
// shared memory that are mapped at the end. The messages on MPI_COMM_WORLD are those of MPI_Init. One line a rank:
// "carried RANK MESSAGES REGIONS".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int messages = 0;

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    int (*library)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = dlsym(RTLD_NEXT, "PMPI_Isend");
    if (comm != MPI_COMM_WORLD) ++messages;
    return library(data, count, type, to, tag, comm, request);
}

int PMPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    int (*library)(const void*, int, MPI_Datatype, int, int, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Send");
    if (to != MPI_PROC_NULL) ++messages;  // those are questions about arguments
    return library(data, count, type, to, tag, comm);
}

int MPI_Finalize(void) {
    int rank, regions = 0;
    char line[4096];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) { /* each has a range from its beginning, and perhaps one more */
        regions += strstr(line, "/memfd:rondo") != NULL && strstr(line, " 00000000 ") != NULL;
    }
    fclose(maps);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("carried %d %d %d\n", rank, messages, regions);
    return PMPI_Finalize();
}
