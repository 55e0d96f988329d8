// SPDX-License-Identifier: BSD-3-Clause
// Random programs of nonblocking collectives: up to sixteen under way at a time, on the world, its ranks in reverse
// order and communicators that are freed at once; blocking collectives and messages that anybody may receive between
// them. Each rank completes them in an order and by functions of its own. Datatypes and operators are freed while they
// are needed. Arguments: seed, how many steps, and whether communicators may be freed while calls on them are under
// way, which Open MPI itself does not survive. Prints how often a result was wrong, and how many calls there were.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { slots = 16, most_elements = 3000, most_ranks = 16 };
enum {
    BCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    SCATTER,
    GATHER,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    BARRIER,
    collectives
};

/// A call under way. Other ranks' parts differ in length where counts are arguments.
typedef struct {
    int collective, elements, root, rank, size, number;
    int in_place, has_own_type, has_own_operator;
    int *from, *into;
    int counts[most_ranks], starts[most_ranks];
} Call;

static unsigned int shared_state, own_state;
static int failures, calls, rank, size;
static Call call_in[slots];
static MPI_Request request_of[slots];
static MPI_Comm world, reversed;

static int next(unsigned int* state, int bound) {
    *state = *state * 1664525U + 1013904223U;
    return (int)((*state >> 8) % (unsigned int)bound);
}
/// Below a bound. All ranks draw the same, or each its own.
static int draw(int bound) { return next(&shared_state, bound); }
static int draw_alone(int bound) { return next(&own_state, bound); }

static int value(int from, int i, int number) { return from * 7 + i * 3 + number; }
static int sum(int ranks, int i, int number) { return 7 * ranks * (ranks - 1) / 2 + ranks * (i * 3 + number); }

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * bytes / (int)sizeof(int); ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void expect(int found, int expected) { failures += found != expected; }

/// Checks what a call has brought, and ends it.
static void check(Call* call) {
    const int n = call->elements, me = call->rank, p = call->size, is_root = me == call->root;
    const int* const into = call->into;
    for (int i = 0; i < n; ++i) {
        switch (call->collective) {
            case BCAST: expect(into[i], value(call->root, i, call->number)); break;
            case ALLREDUCE: expect(into[i], sum(p, i, call->number)); break;
            case SCAN: expect(into[i], sum(me + 1, i, call->number)); break;
            case REDUCE:
                if (is_root) expect(into[i], sum(p, i, call->number));
                break;
            case EXSCAN:
                if (me > 0) expect(into[i], sum(me, i, call->number));
                break;
            case REDUCE_SCATTER_BLOCK: expect(into[i], sum(p, me * n + i, call->number)); break;
            case SCATTER: expect(into[i], value(call->root, me * n + i, call->number)); break;
            case GATHER:
            case ALLGATHER:
            case ALLTOALL:
                for (int from = 0; from < p && (call->collective != GATHER || is_root); ++from) {
                    expect(into[from * n + i],
                           value(from, call->collective == ALLTOALL ? me * n + i : i, call->number));
                }
                break;
            default: break;
        }
    }
    if (call->collective == SCATTERV) {
        for (int i = 0; i < call->counts[me]; ++i) {
            expect(into[i], value(call->root, call->starts[me] + i, call->number));
        }
    }
    for (int from = 0; from < p; ++from) {
        const int gathers = call->collective == ALLGATHERV || (call->collective == GATHERV && is_root);
        for (int i = 0; gathers && i < call->counts[from]; ++i) {
            expect(into[call->starts[from] + i], value(from, i, call->number));
        }
        // Every rank sends as many elements as it is told to receive from that one.
        for (int i = 0; call->collective == ALLTOALLV && i < call->counts[(from + me) % p]; ++i) {
            expect(into[from * n + i], value(from, me * n + i, call->number));
        }
    }
    free(call->from);
    free(call->into);
    memset(call, 0, sizeof *call);
}

/// Counts and places of an all-to-all of which each pair has its own length.
static int pair_counts[slots][most_ranks], pair_starts[slots][most_ranks];

static void begin(int slot, int collective, int elements, int root, MPI_Comm comm) {
    Call* const call = &call_in[slot];
    MPI_Request* const request = &request_of[slot];
    int me = 0, p = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    root %= p;
    *call = (Call){.collective = collective, .elements = elements, .root = root, .rank = me, .size = p};
    call->number = calls++;
    call->in_place = draw(3) == 0 && (collective == ALLREDUCE || collective == SCAN);
    call->has_own_type = draw(3) == 0;
    call->has_own_operator = draw(4) == 0;
    const int n = elements, number = call->number, all = n * p;
    int* const from = call->from = malloc((size_t)(all + 1) * sizeof(int));
    int* const into = call->into = malloc((size_t)(all + 1) * sizeof(int));
    for (int i = 0; i <= all; ++i) from[i] = value(me, i, number), into[i] = -1;
    for (int i = 0, start = 0; i < p; ++i) {
        call->counts[i] = (i + number) % 3 * n / 2;
        call->starts[i] = start;
        start += call->counts[i];
    }
    for (int i = 0; i < p; ++i) {
        pair_counts[slot][i] = call->counts[(i + me) % p];
        pair_starts[slot][i] = i * n;
    }
    const int* const counts = call->counts;
    const int* const starts = call->starts;
    if (call->in_place || (collective == BCAST && me == root)) memcpy(into, from, (size_t)all * sizeof(int));
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;
    int units = n;
    // Rank 0 describes the data of a broadcast otherwise than the others do.
    const int derives = collective == BCAST ? call->has_own_type && me == 0 : 0;
    if (derives) {
        MPI_Type_contiguous(n, MPI_INT, &type);
        MPI_Type_commit(&type);
        units = 1;
    }
    if (call->has_own_operator) MPI_Op_create(add, 1, &op);
    const void* const input = call->in_place ? MPI_IN_PLACE : (const void*)from;
    switch (collective) {
        case BCAST: MPI_Ibcast(into, units, type, root, comm, request); break;
        case REDUCE: MPI_Ireduce(from, into, n, MPI_INT, op, root, comm, request); break;
        case ALLREDUCE: MPI_Iallreduce(input, into, n, MPI_INT, op, comm, request); break;
        case SCAN: MPI_Iscan(input, into, n, MPI_INT, op, comm, request); break;
        case EXSCAN: MPI_Iexscan(from, into, n, MPI_INT, op, comm, request); break;
        case SCATTER: MPI_Iscatter(from, n, MPI_INT, into, n, MPI_INT, root, comm, request); break;
        case GATHER: MPI_Igather(from, n, MPI_INT, into, n, MPI_INT, root, comm, request); break;
        case ALLGATHER: MPI_Iallgather(from, n, MPI_INT, into, n, MPI_INT, comm, request); break;
        case ALLTOALL: MPI_Ialltoall(from, n, MPI_INT, into, n, MPI_INT, comm, request); break;
        case REDUCE_SCATTER_BLOCK: MPI_Ireduce_scatter_block(from, into, n, MPI_INT, op, comm, request); break;
        case ALLGATHERV:
            MPI_Iallgatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, comm, request);
            break;
        case GATHERV:
            MPI_Igatherv(from, counts[me], MPI_INT, into, counts, starts, MPI_INT, root, comm, request);
            break;
        case SCATTERV:
            MPI_Iscatterv(from, counts, starts, MPI_INT, into, counts[me], MPI_INT, root, comm, request);
            break;
        case ALLTOALLV:
            MPI_Ialltoallv(from, pair_counts[slot], pair_starts[slot], MPI_INT, into, pair_counts[slot],
                           pair_starts[slot], MPI_INT, comm, request);
            break;
        default: MPI_Ibarrier(comm, request);
    }
    if (derives) MPI_Type_free(&type);
    if (call->has_own_operator) MPI_Op_free(&op);
}

static int is_used(int slot) { return call_in[slot].from != NULL; }

/// Completes some calls, or all: this rank's own choice, by functions of its own choice.
static void complete(int all) {
    int pending = 0, indices[slots], done = 0;
    for (int slot = 0; slot < slots; ++slot) pending += is_used(slot);
    while (pending > 0) {
        done = 0;
        switch (draw_alone(5)) {
            case 0: MPI_Waitany(slots, request_of, &indices[0], MPI_STATUS_IGNORE), done = 1; break;
            case 1: MPI_Waitsome(slots, request_of, &done, indices, MPI_STATUSES_IGNORE); break;
            case 2: MPI_Testsome(slots, request_of, &done, indices, MPI_STATUSES_IGNORE); break;
            case 3:
                indices[0] = draw_alone(slots);
                if (!is_used(indices[0])) continue;
                MPI_Wait(&request_of[indices[0]], MPI_STATUS_IGNORE), done = 1;
                break;
            default: {
                int flag = 0;
                indices[0] = draw_alone(slots);
                if (!is_used(indices[0])) continue;
                MPI_Request_get_status(request_of[indices[0]], &flag, MPI_STATUS_IGNORE);
                if (flag) MPI_Test(&request_of[indices[0]], &flag, MPI_STATUS_IGNORE);
                done = flag;
            }
        }
        for (int i = 0; i < done; ++i) check(&call_in[indices[i]]);
        pending -= done;
        if (!all && draw_alone(3) == 0) return;
    }
}

/// All ranks must find the same slot free: it is this rank's part to make it so.
static int freed_slot(void) {
    const int slot = draw(slots);
    if (is_used(slot)) {
        MPI_Wait(&request_of[slot], MPI_STATUS_IGNORE);
        check(&call_in[slot]);
    }
    return slot;
}

static void pass_message(int number) {
    int got = -1;
    MPI_Request sent;
    MPI_Isend(&number, 1, MPI_INT, (rank + 1) % size, number % 100, world, &sent);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    expect(got, number);
}

static void call_blocking(int number) {
    int one = rank + number, total = 0;
    MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, draw(2) ? world : reversed);
    expect(total, size * number + size * (size - 1) / 2);
}

/// Makes calls on a communicator that is freed then.
static void use_once(int frees_early) {
    MPI_Comm copy;
    MPI_Comm_dup(draw(2) ? world : reversed, &copy);
    for (int i = 0; i < 4; ++i) begin(freed_slot(), draw(collectives), 1 + draw(most_elements), draw(size), copy);
    if (!frees_early) complete(1);
    MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world = MPI_COMM_WORLD;
    MPI_Comm_split(world, 0, -rank, &reversed);
    shared_state = (unsigned int)atoi(argv[1]) * 2654435761U + 1;
    own_state = shared_state + (unsigned int)rank * 40503U;
    const int steps = atoi(argv[2]);
    for (int slot = 0; slot < slots; ++slot) request_of[slot] = MPI_REQUEST_NULL;
    for (int step = 0; step < steps; ++step) {
        switch (draw(8)) {
            case 0: complete(0); break;
            case 1: pass_message(step); break;
            case 2: call_blocking(step); break;
            case 3:
                if (draw(8) == 0) use_once(atoi(argv[3]));
                break;
            default: {
                const int elements = draw(4) == 0 ? 1 + draw(most_elements) : 1 + draw(20);
                begin(freed_slot(), draw(collectives), elements, draw(size), draw(2) ? world : reversed);
            }
        }
    }
    complete(1);
    MPI_Comm_free(&reversed);
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\ncalls %d\n", all, calls);
    MPI_Finalize();
    return failures != 0;
}
