// SPDX-License-Identifier: BSD-3-Clause
// What programs may do with requests of persistent collectives, besides starting and completing them. Arguments:
// whether the communicator may be freed while there are requests, which Open MPI itself does not survive. Rank 0 prints
// how often something was wrong, and how many calls were started.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { elements = 20000, rounds = 100 };

static int failures, starts, rank, size;
static int data[elements];

static void expect(int found, int expected) { failures += found != expected; }

static void start(MPI_Request* request) {
    MPI_Start(request);
    ++starts;
}

/// A request of which no start is under way completes at once, as often as one asks.
static void complete_inactive(MPI_Request* request) {
    MPI_Status status;
    for (int time = 0; time < 2; ++time) {
        int flag = 0, index = 0, count = -1;
        MPI_Wait(request, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        expect(count, 0);
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        expect(flag, 1);
        MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
        expect(flag, 1);
        MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
        expect(index, MPI_UNDEFINED);
    }
}

/// The root of broadcasts runs ahead of the others: starts may not take one another's messages.
static void run_ahead(MPI_Request* request) {
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0) data[0] = data[elements - 1] = round;
        start(request);
        if (rank != 0 && round % 10 == 0) complete_inactive(&(MPI_Request){MPI_REQUEST_NULL});
        MPI_Wait(request, MPI_STATUS_IGNORE);
        expect(data[0], round);
        expect(data[elements - 1], round);
    }
}

/// Starts requests for messages and for collectives together.
static void start_mixed(MPI_Request* collective) {
    int sent = rank, got = -1;
    MPI_Request all[3];
    MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &all[0]);
    all[1] = *collective;
    MPI_Recv_init(&got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &all[2]);
    for (int round = 0; round < 3; ++round) {
        if (rank == 0) data[7] = round;
        MPI_Startall(3, all);
        ++starts;
        MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
        expect(data[7], round);
        expect(got, (rank + size - 1) % size);
    }
    *collective = all[1];
    MPI_Request_free(&all[0]);
    MPI_Request_free(&all[2]);
}

/// More requests, one after the other, than there are numbers for.
static void make_many(void) {
    MPI_Request request;
    for (int round = 0; round < 5000; ++round) {
        MPI_Bcast_init(data, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        if (round % 100 == 0) {
            if (rank == 0) data[0] = round;
            start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect(data[0], round);
        }
        MPI_Request_free(&request);
    }
}

/// A request that is freed under way: the call goes on to its end.
static void free_under_way(MPI_Comm comm, int frees_communicator) {
    MPI_Request request;
    MPI_Bcast_init(data, elements, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    if (frees_communicator) MPI_Comm_free(&comm);
    data[elements - 1] = rank == 0 ? 4711 : 0;
    start(&request);
    MPI_Request_free(&request);
    expect(request == MPI_REQUEST_NULL, 1);
    while (((volatile int*)data)[elements - 1] != 4711) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    if (!frees_communicator) MPI_Barrier(comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int frees_early = atoi(argv[1]);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Request never_started, request;
    MPI_Bcast_init(data, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &never_started);
    MPI_Bcast_init(data, elements, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    complete_inactive(&request);
    run_ahead(&request);
    start_mixed(&request);
    make_many();
    complete_inactive(&request);
    MPI_Request_free(&request);
    free_under_way(frees_early ? copy : MPI_COMM_WORLD, frees_early);
    if (!frees_early) MPI_Comm_free(&copy);
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\nstarts %d\n", all, starts);
    MPI_Finalize();  // `never_started` is not freed
    return failures != 0;
}
