// SPDX-License-Identifier: BSD-3-Clause
// Makes a thread with a small stack, which does not call MPI. Prints whether it ran.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { small = 64 << 10 };

static void* run(void* has_run) {
    *(int*)has_run = 1;
    return NULL;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int number = 1, sum = 0, has_run = 0;
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, small);
    if (error == 0) error = pthread_create(&thread, &attributes, run, &has_run);
    if (error == 0) error = pthread_join(thread, NULL);
    int all = 0;
    MPI_Allreduce(&has_run, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("error %d, has run %d\n", error, all);
    MPI_Finalize();
    return 0;
}
