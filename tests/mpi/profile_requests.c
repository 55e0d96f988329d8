// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits for collectives that do not block, and for messages, in all the ways that MPI has; rank 1 comes late.
// Rank 0 prints, by its own clock, what it waited for each collective, and for messages in each function.
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { late = 100000 };  // microseconds

static int rank;
static double in = 1, out, parts[2], received;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void come_late(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) usleep(late);
}

static void say(const char* name, double since) {
    if (rank == 0) printf("%s %.9f\n", name, now() - since);
}

static void message(MPI_Request* request) {
    if (rank == 0) MPI_Irecv(&received, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, request);
    else {
        MPI_Send(&in, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
        *request = MPI_REQUEST_NULL;
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0, index = 0, number = 0, indices[3];
    double begin, rest = 0;

    come_late();
    MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
    begin = now();
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    say("MPI_Iallreduce", begin);

    come_late();
    message(requests);
    begin = now();
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    say("MPI_Wait", begin);

    come_late();  // both count for half
    MPI_Ibarrier(MPI_COMM_WORLD, requests);
    message(requests + 2);
    begin = now();
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    say("MPI_Ibarrier+MPI_Waitall", begin);

    come_late();  // the message comes later
    MPI_Ibcast(&out, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD, requests);
    if (rank == 0) {
        message(requests + 1);
        begin = now();
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        say("MPI_Ibcast", begin);
        if (index != 0) MPI_Abort(MPI_COMM_WORLD, 1);
        begin = now();
        MPI_Waitsome(2, requests, &number, indices, MPI_STATUSES_IGNORE);
        say("MPI_Waitsome", begin);
    } else {
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        usleep(late);
        message(requests + 1);
    }

    come_late();
    MPI_Igather(&in, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, requests);
    begin = now();
    for (flag = 0; !flag;) MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    say("MPI_Igather", begin);

    come_late();
    MPI_Ireduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, requests);
    begin = now();
    for (flag = 0; !flag;) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    say("MPI_Ireduce", begin);

    come_late();
    MPI_Iallgather(&in, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, MPI_COMM_WORLD, requests);
    begin = now();
    for (number = 0; number == 0;) MPI_Testsome(1, requests, &number, indices, MPI_STATUSES_IGNORE);
    say("MPI_Iallgather", begin);

    come_late();
    MPI_Ialltoall(parts, 1, MPI_DOUBLE, (double[2]){0}, 1, MPI_DOUBLE, MPI_COMM_WORLD, requests);
    begin = now();
    for (flag = 0; !flag;) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    say("MPI_Ialltoall", begin);

    MPI_Barrier(MPI_COMM_WORLD);
    // Requests whose handles may be those of collectives before: of messages alone.
    for (int i = 0; i < 100; ++i) {
        MPI_Sendrecv(&in, 1, MPI_DOUBLE, 1 - rank, 1, &out, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Isend(&in, 1, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, requests);
        MPI_Irecv(&out, 1, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, requests + 1);
        begin = now();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        rest += now() - begin;
    }
    say("rest", now() - rest);
    MPI_Finalize();
    return 0;
}
