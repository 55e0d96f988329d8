// SPDX-License-Identifier: BSD-3-Clause
// Exscans at the limits of three classes of size on each rank, then all ranks end as the word says that they are given.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { calls = 10, short_length = 8, medium_length = 9, long_length = (4 << 20) / 8 + 1 };

static long input[long_length], output[long_length];

static void wait_to_be_killed(void) {
    for (int second = 0; second < 60; ++second) sleep(1);
}

int main(int argc, char** argv) {
    const char* ending = argc > 1 ? argv[1] : "finalize";
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int call = 0; call < calls; ++call) {
        MPI_Exscan(input, output, short_length, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Exscan(input, output, medium_length, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(input, output, long_length, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(ending, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            // Alone, so that nobody is needed for it; no program should, but this must not count.
            MPI_Exscan(input, output, 1, MPI_LONG, MPI_SUM, MPI_COMM_SELF);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (strcmp(ending, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(ending, "kill") == 0 || strcmp(ending, "fork") == 0) raise(SIGKILL);
        if (strcmp(ending, "crash") == 0) raise(SIGSEGV);
    }
    if (strcmp(ending, "exit") == 0) _exit(0);
    if (strcmp(ending, "leave") == 0) exit(0);
    if (strcmp(ending, "exec") == 0) execl("/bin/true", "true", NULL);
    if (strcmp(ending, "finalize") != 0) {
        if (rank == 0) {
            printf("ready\n");
            fflush(stdout);
        }
        wait_to_be_killed();
    }
    MPI_Finalize();
    return 0;
}
