// SPDX-License-Identifier: BSD-3-Clause
// Collectives of one element on two ranks, and the same by hand, for callgrind: it collects only while a measured call
// runs. Usage: overhead FUNCTION (collective|in_turn|by_hand|handed_on) REPETITIONS [CALLS BEFORE THESE]
// in_turn: calls of two types, of which one is measured.
//
// Rank 1 first hears that rank 0 has sent, so that nobody ever polls for a message in a measured call.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

static int counting = 0;
static long allocations = 0;

void* __libc_malloc(size_t bytes);
void* malloc(size_t bytes) {
    allocations += counting;
    return __libc_malloc(bytes);
}

enum { root_of_bcast = 0, root_of_reduce = 1 };

static long own, result;
static MPI_Datatype type;  // MPI_LONG in measured calls

static int number(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int processes(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

// For two ranks each of these is one message, from rank 0 to rank 1.
static void bcast_by_hand(long* vector, int count, MPI_Comm comm) {
    const int rank = number(comm);
    if (rank + 1 < processes(comm)) MPI_Send(vector, count, MPI_LONG, rank + 1, 0, comm);
    if (rank > 0) MPI_Recv(vector, count, MPI_LONG, rank - 1, 0, comm, MPI_STATUS_IGNORE);
}

static void exscan_by_hand(const long* input, long* output, int count, MPI_Comm comm) {
    const int rank = number(comm);
    if (rank + 1 < processes(comm)) MPI_Send(input, count, MPI_LONG, rank + 1, 0, comm);
    if (rank > 0) MPI_Recv(output, count, MPI_LONG, rank - 1, 0, comm, MPI_STATUS_IGNORE);
}

static void reduce_by_hand(const long* input, long* output, int count, MPI_Comm comm) {
    const int rank = number(comm);
    if (rank + 1 < processes(comm)) MPI_Send(input, count, MPI_LONG, rank + 1, 0, comm);
    if (rank > 0) MPI_Recv(output, count, MPI_LONG, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < count && rank > 0; ++i) output[i] += input[i];
}

// A broadcast has one buffer.
static void prepare_bcast(void) {
    if (number(MPI_COMM_WORLD) == root_of_bcast) result = own;
}

static void call_bcast(void) { MPI_Bcast(&result, 1, type, root_of_bcast, MPI_COMM_WORLD); }
static void call_bcast_by_hand(void) { bcast_by_hand(&result, 1, MPI_COMM_WORLD); }

static void call_exscan(void) { MPI_Exscan(&own, &result, 1, type, MPI_SUM, MPI_COMM_WORLD); }
static void call_exscan_by_hand(void) { exscan_by_hand(&own, &result, 1, MPI_COMM_WORLD); }

static void call_reduce(void) { MPI_Reduce(&own, &result, 1, type, MPI_SUM, root_of_reduce, MPI_COMM_WORLD); }
static void call_reduce_by_hand(void) { reduce_by_hand(&own, &result, 1, MPI_COMM_WORLD); }

// The others, in which ranks may poll: what Rondo adds to them is counted, not what the library does.
static long many[2];
static const int counts[2] = {1, 1}, displacements[2] = {0, 1};

static void call_allreduce(void) { MPI_Allreduce(&own, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }
static void call_scan(void) { MPI_Scan(&own, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }
static void call_barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    result = own;
}
static void call_allgather(void) {
    MPI_Allgather(&own, 1, MPI_LONG, many, 1, MPI_LONG, MPI_COMM_WORLD);
    result = many[0] + many[1];
}
static void call_allgatherv(void) {
    MPI_Allgatherv(&own, 1, MPI_LONG, many, counts, displacements, MPI_LONG, MPI_COMM_WORLD);
    result = many[0] + many[1];
}
static void call_reduce_scatter(void) {
    many[0] = many[1] = own;
    MPI_Reduce_scatter(many, &result, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}
static void call_reduce_scatter_block(void) {
    many[0] = many[1] = own;
    MPI_Reduce_scatter_block(many, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static long both[2];

static void call_alltoall(void) {
    many[0] = many[1] = own;
    MPI_Alltoall(many, 1, MPI_LONG, both, 1, MPI_LONG, MPI_COMM_WORLD);
    result = both[0] + both[1];
}
static void call_alltoallv(void) {
    many[0] = many[1] = own;
    MPI_Alltoallv(many, counts, displacements, MPI_LONG, both, counts, displacements, MPI_LONG, MPI_COMM_WORLD);
    result = both[0] + both[1];
}

static void call_gather(void) {
    MPI_Gather(&own, 1, MPI_LONG, many, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    result = 2 * own;  // rank 1 gets nothing
}
static void call_gatherv(void) {
    MPI_Gatherv(&own, 1, MPI_LONG, many, counts, displacements, MPI_LONG, 0, MPI_COMM_WORLD);
    result = 2 * own;
}
static void call_scatter(void) {
    many[0] = many[1] = 2 * own;
    MPI_Scatter(many, 1, MPI_LONG, &result, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}
static void call_scatterv(void) {
    many[0] = many[1] = 2 * own;
    MPI_Scatterv(many, counts, displacements, MPI_LONG, &result, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

// No collective: what is timed only.
static void call_comm_rank(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    result = own;
}

static void prepare_nothing(void) {}

static const struct Subject {
    const char* name;
    void (*prepare)(void);
    void (*collective)(void);
    void (*by_hand)(void);  // NULL: there is none
    long summands;          // of the result of rank 1
} subjects[] = {
    {"bcast", prepare_bcast, call_bcast, call_bcast_by_hand, 1},
    {"exscan", prepare_nothing, call_exscan, call_exscan_by_hand, 1},
    {"reduce", prepare_nothing, call_reduce, call_reduce_by_hand, 2},
    {"allgather", prepare_nothing, call_allgather, NULL, 2},
    {"allgatherv", prepare_nothing, call_allgatherv, NULL, 2},
    {"allreduce", prepare_nothing, call_allreduce, NULL, 2},
    {"alltoall", prepare_nothing, call_alltoall, NULL, 2},
    {"alltoallv", prepare_nothing, call_alltoallv, NULL, 2},
    {"barrier", prepare_nothing, call_barrier, NULL, 1},
    {"comm_rank", prepare_nothing, call_comm_rank, NULL, 1},
    {"gather", prepare_nothing, call_gather, NULL, 2},
    {"gatherv", prepare_nothing, call_gatherv, NULL, 2},
    {"reduce_scatter", prepare_nothing, call_reduce_scatter, NULL, 2},
    {"reduce_scatter_block", prepare_nothing, call_reduce_scatter_block, NULL, 2},
    {"scan", prepare_nothing, call_scan, NULL, 2},
    {"scatter", prepare_nothing, call_scatter, NULL, 2},
    {"scatterv", prepare_nothing, call_scatterv, NULL, 2},
};

static const struct Subject* find_subject(const char* name) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) {
        if (strcmp(subjects[i].name, name) == 0) return &subjects[i];
    }
    return NULL;
}

static void call_of_another_type(void (*call)(void)) {
    type = MPI_INT;
    call();
    type = MPI_LONG;
}

/// `together`: both ranks may wait for each other in the call. They begin it together, and poll: only what Rondo itself
/// executes means something.
static void repeat(const struct Subject* subject, void (*call)(void), int together, int in_turn, int repetitions,
                   int rank) {
    int token = 0;
    for (int i = 0; i < repetitions; ++i) {
        if (in_turn) call_of_another_type(call);
        own = 7 * (i + 1);
        subject->prepare();
        if (together) MPI_Barrier(MPI_COMM_WORLD);
        else if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        counting = 1;
        CALLGRIND_TOGGLE_COLLECT;
        call();
        CALLGRIND_TOGGLE_COLLECT;
        counting = 0;
        if (rank == 1 && result != subject->summands * own) {
            fprintf(stderr, "wrong result: %ld instead of %ld\n", result, subject->summands * own);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (together) continue;
        if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        // Rank 0 goes on only when rank 1 is done: no queue fills up.
        if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    type = MPI_LONG;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct Subject* const subject = argc == 4 || argc == 5 ? find_subject(argv[1]) : NULL;
    if (size != 2 || subject == NULL) {
        if (rank == 0) {
            fprintf(stderr,
                    "usage: two ranks of %s FUNCTION (collective|in_turn|by_hand|handed_on) REPETITIONS [CALLS]\n",
                    argv[0]);
        }
        MPI_Finalize();
        return 2;
    }
    const int by_hand = strcmp(argv[2], "by_hand") == 0 && subject->by_hand != NULL;
    void (*const call)(void) = by_hand ? subject->by_hand : subject->collective;
    const int before = argc == 5 ? atoi(argv[4]) : 10;
    const int in_turn = strcmp(argv[2], "in_turn") == 0;
    for (int i = 0; i < before; ++i) {  // the first one sets things up, with both ranks in it
        call();
        if (in_turn) call_of_another_type(call);  // the last one that got a second look, so not the measured one
    }
    const int together = subject->by_hand == NULL || strcmp(argv[2], "handed_on") == 0;
    repeat(subject, call, together, in_turn, atoi(argv[3]), rank);
    printf("rank %d allocations %ld\n", rank, allocations);
    MPI_Finalize();
    return 0;
}
