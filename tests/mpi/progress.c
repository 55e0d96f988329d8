// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives that must go on while rank 0 waits in another function of MPI: the other ranks let it go only
// when they have completed them, for which they need rank 0. Arguments: where it waits, and whether the collectives are
// persistent. Prints "went on in ..." if it ends; a program that waits for ever is ended by whoever started it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { elements = 40000 };

static int rank, size, is_persistent;
static double from[elements], into[elements], all[elements];
static MPI_Request requests[3];

static void make_persistent(void) {
    MPI_Allreduce_init(from, into, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(all, elements, MPI_DOUBLE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
}

static void begin(void) {
    for (int i = 0; i < elements; ++i) from[i] = rank + i;
    for (int i = 0; i < elements && rank == 1; ++i) all[i] = i;
    if (is_persistent) {
        MPI_Startall(3, requests);
        return;
    }
    MPI_Iallreduce(from, into, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(all, elements, MPI_DOUBLE, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
}

static void complete(void) {
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < elements; ++i) {
        if (into[i] != size * (double)i + size * (size - 1) / 2 || all[i] != i) {
            printf("rank %d has wrong results\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/// Rank 0 broadcasts, and has ended MPI, but for what that waits for, when the others come to receive.
static void broadcast_at_the_end(void) {
    const int long_and_short[] = {elements, 1};
    for (int i = 0; i < 2; ++i) {
        MPI_Request request;
        const int count = long_and_short[i];
        for (int j = 0; j < count; ++j) all[j] = rank == 0 ? j + i : -1;
        if (rank != 0 && i == 1) usleep(300000);
        if (is_persistent) MPI_Bcast_init(all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        if (is_persistent) MPI_Start(&request);
        else MPI_Ibcast(all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (is_persistent) MPI_Request_free(&request);
        if (all[count - 1] != count - 1 + i) MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static MPI_File open_file(void) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "written", mode, MPI_INFO_NULL, &file);
    return file;
}

/// To the next rank of a ring, and from the one before.
static void call_neighbors(int* one, int* both) {
    const int periods = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    MPI_Neighbor_allgather(one, 1, MPI_INT, both, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

/// Rank 0 comes back when all others have called this, after their collectives.
static void wait_in(const char* where) {
    static double long_message[200000];
    const int last = size - 1;
    int flag = 0, one = rank, sum = 0, both[2];
    MPI_Request other = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Comm comm;
    MPI_Win window;
    if (strcmp(where, "Recv") == 0) {
        if (rank == 0) MPI_Recv(&one, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == last) MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else if (strcmp(where, "Ssend") == 0) {
        if (rank == 0) MPI_Ssend(long_message, 200000, MPI_DOUBLE, last, 2, MPI_COMM_WORLD);
        if (rank == last) MPI_Recv(long_message, 200000, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(where, "Probe") == 0) {
        if (rank == 0) MPI_Probe(last, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == last) MPI_Send(&one, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&one, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(where, "Iprobe") == 0) {
        while (rank == 0 && !flag) MPI_Iprobe(last, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (rank == last) MPI_Send(&one, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&one, 1, MPI_INT, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(where, "Mrecv") == 0) {
        if (rank == 0) MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (rank == last) MPI_Send(long_message, 200000, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
        if (rank == 0) MPI_Mrecv(long_message, 200000, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    } else if (strcmp(where, "Waitall") == 0) {
        // The collectives themselves, of which one is completed, and a message.
        MPI_Request several[] = {requests[0], MPI_REQUEST_NULL, requests[2], MPI_REQUEST_NULL};
        if (rank == 0) MPI_Irecv(&one, 1, MPI_INT, last, 6, MPI_COMM_WORLD, &several[3]);
        if (rank == 0) MPI_Waitall(4, several, MPI_STATUSES_IGNORE);
        if (rank == 0 && !is_persistent) requests[0] = requests[2] = MPI_REQUEST_NULL;
        if (rank == last) MPI_Send(&one, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    } else if (strcmp(where, "Waitany") == 0) {
        if (rank == 0) MPI_Irecv(&one, 1, MPI_INT, last, 7, MPI_COMM_WORLD, &other);
        if (rank == 0) MPI_Waitany(1, &other, &flag, MPI_STATUS_IGNORE);
        if (rank == last) MPI_Send(&one, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    } else if (strcmp(where, "Neighbor_allgather") == 0) {
        call_neighbors(&one, both);
    } else if (strcmp(where, "Win_fence") == 0) {
        MPI_Win_create(long_message, sizeof long_message, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    } else if (strcmp(where, "Comm_split") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
        MPI_Comm_free(&comm);
    } else if (strcmp(where, "Reduce") == 0) {
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (strcmp(where, "Allreduce") == 0) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(where, "File_write_all") == 0) {
        MPI_File file = open_file();
        MPI_File_write_all(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    } else if (strcmp(where, "File_iwrite") == 0) {
        // The library completes the request of a file only while it waits for that. Beside it stands a null one.
        MPI_File file = open_file();
        MPI_Request several[] = {requests[0], MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_File_iwrite_at(file, rank * (MPI_Offset)sizeof one, &one, 1, MPI_INT, &several[2]);
        MPI_Waitall(3, several, MPI_STATUSES_IGNORE);
        if (!is_persistent) requests[0] = MPI_REQUEST_NULL;
        MPI_File_close(&file);
    } else if (strcmp(where, "Finalize") != 0) {
        exit(2);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_persistent = atoi(argv[2]);
    if (is_persistent) make_persistent();
    for (int repetition = 0; repetition < 5; ++repetition) {
        begin();
        if (rank != 0) complete();
        wait_in(argv[1]);
        if (rank == 0) complete();
    }
    for (int i = 0; i < 3 && is_persistent; ++i) MPI_Request_free(&requests[i]);
    if (strcmp(argv[1], "Finalize") == 0) broadcast_at_the_end();
    if (rank == 0) printf("went on in MPI_%s\n", argv[1]);
    MPI_Finalize();
    return 0;
}
