// SPDX-License-Identifier: BSD-3-Clause
// MPI that comes late, in a plugin. Without PLUGIN this is a program without MPI: it says which functions of MPI it
// finds where none should be, and loads the plugin if it is named one. With PLUGIN it is that, and exits as the program
// would: its collectives are right, or not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef PLUGIN
#include <mpi.h>

#pragma weak MPI_Bcast_c
#if MPI_VERSION < 4
int MPI_Bcast_c(void* buffer, long long count, MPI_Datatype type, int root, MPI_Comm communicator);
#endif

int run(void) {
    int rank = 0, size = 0, lower = 0, failures = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < 3; ++call) {
        const int mine = rank + 1;
        MPI_Exscan(&mine, &lower, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank > 0 && lower != rank * (rank + 1) / 2) ++failures;
    }
    if (MPI_Bcast_c != NULL) {
        int news = rank == 0 ? 42 : 0;
        MPI_Bcast_c(&news, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (news != 42) ++failures;
    }
    if (rank == 0) printf("large counts: %d\n", MPI_Bcast_c != NULL);
    MPI_Finalize();
    return failures;
}
#else
#pragma weak MPI_Init
#pragma weak MPI_Bcast_c
int MPI_Init(int* count, char*** arguments);
int MPI_Bcast_c(void);

int main(int argc, char** argv) {
    printf("found: %d %d %d\n", MPI_Init != NULL, MPI_Bcast_c != NULL, dlsym(RTLD_DEFAULT, "MPI_Bcast") != NULL);
    fflush(stdout);
    if (argc < 2) return 0;
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return puts(dlerror()), 2;
    int (*run)(void) = (int (*)(void))dlsym(plugin, "run");
    return run();
}
#endif
