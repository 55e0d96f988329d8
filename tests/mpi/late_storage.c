// SPDX-License-Identifier: BSD-3-Clause
// A plugin with thread-local memory, loaded after MPI has been called: glibc has little room for that.
// usage: late_storage <plugin>
#ifdef PLUGIN
__attribute__((tls_model("initial-exec"))) __thread char storage[1300];
char* own_storage(void) { return storage; }
#else
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && dlopen(argv[1], RTLD_NOW) == NULL) printf("%s\n", dlerror());
    MPI_Finalize();
    return 0;
}
#endif
