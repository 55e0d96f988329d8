// SPDX-License-Identifier: BSD-3-Clause
// Collectives, one after another, until rank 1 is struck while they are under way, as the first word says: kill, stop
// (and continue), abort, exit (without MPI_Finalize), none. Second word: elements of each call. With a third word,
// errors come back as codes, which are told before the rank ends.
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { calls_before = 50, milliseconds_before = 30, milliseconds_stopped = 1500 };

static long *input, *output;
static int rank, size, wrong;

static void sleep_milliseconds(int milliseconds) { usleep(1000 * (useconds_t)milliseconds); }

/// A process that strikes this one, some time after a byte has come through the pipe. It has nothing of its parent
/// open, so that nobody waits for it.
static int make_striker(const char* ending) {
    int ends[2];
    const pid_t victim = getpid();
    if (pipe(ends) != 0) exit(9);
    if (fork() != 0) {
        close(ends[0]);
        return ends[1];
    }
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[0], 0);
    close_range(1, ~0U, 0);
    if (read(0, &byte, 1) == 1) {
        sleep_milliseconds(milliseconds_before);
        if (strcmp(ending, "kill") == 0) kill(victim, SIGKILL);
        if (strcmp(ending, "stop") == 0) {
            kill(victim, SIGSTOP);
            sleep_milliseconds(milliseconds_stopped);
            kill(victim, SIGCONT);
        }
    }
    _exit(0);
}

static void check(int error, const char* name) {
    if (error == MPI_SUCCESS) return;
    int class = 0;
    MPI_Error_class(error, &class);
    printf("rank %d: %s failed with an error of class %d\n", rank, name, class);
    fflush(stdout);
    _exit(7);
}

static void expect(int count, long value) {
    for (int i = 0; i < count; ++i) wrong += output[i] != value + i;
}

/// One call of each; rank 0 says whether it is the last.
static int call_all(int count, long call, int is_last) {
    const long ranks = size;
    for (int i = 0; i < count; ++i) input[i] = call + rank;
    check(MPI_Allreduce(input, output, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), "allreduce");
    for (int i = 0; i < count; ++i) output[i] += i;
    expect(count, ranks * call + ranks * (ranks - 1) / 2);
    check(MPI_Exscan(input, output, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), "exscan");
    for (int i = 0; i < count; ++i) output[i] += i;
    if (rank > 0) expect(count, rank * call + (long)rank * (rank - 1) / 2);
    for (int i = 0; i < count; ++i) output[i] = rank == 0 ? call + i : -1;
    check(MPI_Bcast(output, count, MPI_LONG, 0, MPI_COMM_WORLD), "bcast");
    expect(count, call);
    check(MPI_Bcast(&is_last, 1, MPI_INT, 0, MPI_COMM_WORLD), "bcast");
    return is_last;
}

int main(int argc, char** argv) {
    const char* ending = argv[1];
    const int count = atoi(argv[2]);
    const int striker = make_striker(ending);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    input = calloc((size_t)count, sizeof *input);
    output = calloc((size_t)count, sizeof *output);
    const double start = MPI_Wtime();
    int is_last = 0;
    for (long call = 0; is_last == 0; ++call) {
        if (rank == 1 && call == calls_before) {
            if (write(striker, "", 1) != 1) return 9;
            if (strcmp(ending, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
            if (strcmp(ending, "exit") == 0) exit(0);
        }
        const double least = strcmp(ending, "none") == 0 ? 0 : 2.5;
        is_last = call_all(count, call, rank == 0 && call > 2 * calls_before && MPI_Wtime() - start > least);
        if (wrong > 0) {
            printf("rank %d: wrong result in call %ld\n", rank, call);
            return 8;
        }
    }
    MPI_Finalize();
    printf("rank %d came to its end\n", rank);
    return 0;
}
