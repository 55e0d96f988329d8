// SPDX-License-Identifier: BSD-3-Clause
// Random programs of nonblocking and persistent collectives: up to 24 under way at a time, on the world, its ranks in
// reverse order and communicators that are freed at once; blocking collectives and messages that anybody may receive
// between them. Each rank completes them in an order and by functions of its own, and starts persistent ones in an
// order of its own. Datatypes and operators are freed while they are needed. Arguments: seed, how many steps, whether
// communicators, and datatypes and operators of persistent calls, may be freed while they are needed, which Open MPI
// itself does not survive, and whether there are persistent calls. Prints how often a result was wrong, and how many
// calls there were.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The last slots are for persistent calls.
enum { slots = 24, first_persistent = 16, most_elements = 3000, most_ranks = 16 };
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
    int is_under_way;
    MPI_Datatype own_type;  // not freed yet
    MPI_Op own_operator;
    int *from, *into;
    int counts[most_ranks], starts[most_ranks];
} Call;

static unsigned int shared_state, own_state;
static int failures, calls, rank, size, frees_early;
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

static void end(Call* call) {
    if (call->has_own_type) MPI_Type_free(&call->own_type);
    if (call->has_own_operator) MPI_Op_free(&call->own_operator);
    free(call->from);
    free(call->into);
    memset(call, 0, sizeof *call);
}

/// Checks what a call has brought.
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
    call->is_under_way = 0;
    if (call < call_in + first_persistent) end(call);
}

/// Gives a call its input.
static void fill(Call* call, int number) {
    const int all = call->elements * call->size, me = call->rank;
    call->number = number;
    call->is_under_way = 1;
    for (int i = 0; i <= all; ++i) call->from[i] = value(me, i, call->number), call->into[i] = -1;
    if (call->in_place || (call->collective == BCAST && me == call->root))
        memcpy(call->into, call->from, (size_t)all * sizeof(int));
}

/// Counts and places of an all-to-all of which each pair has its own length.
static int pair_counts[slots][most_ranks], pair_starts[slots][most_ranks];

#ifdef OPEN_MPI
#define HAS_PERSISTENT (OMPI_MAJOR_VERSION >= 5)
#else
#define HAS_PERSISTENT (MPI_VERSION >= 4)
#endif
#if HAS_PERSISTENT
#define BEGIN(lower_case, name, ...) \
    (is_persistent ? MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request) : MPI_I##lower_case(__VA_ARGS__, request))
#else
#define BEGIN(lower_case, name, ...) MPI_I##lower_case(__VA_ARGS__, request)
#endif

/// Begins a call, or makes it if the slot is for persistent ones.
static void begin(int slot, int collective, int elements, int root, MPI_Comm comm) {
    Call* const call = &call_in[slot];
    MPI_Request* const request = &request_of[slot];
    int me = 0, p = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    root %= p;
    *call = (Call){.collective = collective, .elements = elements, .root = root, .rank = me, .size = p};
    call->in_place = draw(3) == 0 && (collective == ALLREDUCE || collective == SCAN);
    call->has_own_type = draw(3) == 0;
    call->has_own_operator = draw(4) == 0;
    const int n = elements, number = calls++, all = n * p;
    int* const from = call->from = malloc((size_t)(all + 1) * sizeof(int));
    int* const into = call->into = malloc((size_t)(all + 1) * sizeof(int));
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
    const int is_persistent = slot >= first_persistent;
    if (!is_persistent) fill(call, number);
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
        case BCAST: BEGIN(bcast, Bcast, into, units, type, root, comm); break;
        case REDUCE: BEGIN(reduce, Reduce, from, into, n, MPI_INT, op, root, comm); break;
        case ALLREDUCE: BEGIN(allreduce, Allreduce, input, into, n, MPI_INT, op, comm); break;
        case SCAN: BEGIN(scan, Scan, input, into, n, MPI_INT, op, comm); break;
        case EXSCAN: BEGIN(exscan, Exscan, from, into, n, MPI_INT, op, comm); break;
        case SCATTER: BEGIN(scatter, Scatter, from, n, MPI_INT, into, n, MPI_INT, root, comm); break;
        case GATHER: BEGIN(gather, Gather, from, n, MPI_INT, into, n, MPI_INT, root, comm); break;
        case ALLGATHER: BEGIN(allgather, Allgather, from, n, MPI_INT, into, n, MPI_INT, comm); break;
        case ALLTOALL: BEGIN(alltoall, Alltoall, from, n, MPI_INT, into, n, MPI_INT, comm); break;
        case REDUCE_SCATTER_BLOCK:
            BEGIN(reduce_scatter_block, Reduce_scatter_block, from, into, n, MPI_INT, op, comm);
            break;
        case ALLGATHERV:
            BEGIN(allgatherv, Allgatherv, from, counts[me], MPI_INT, into, counts, starts, MPI_INT, comm);
            break;
        case GATHERV:
            BEGIN(gatherv, Gatherv, from, counts[me], MPI_INT, into, counts, starts, MPI_INT, root, comm);
            break;
        case SCATTERV:
            BEGIN(scatterv, Scatterv, from, counts, starts, MPI_INT, into, counts[me], MPI_INT, root, comm);
            break;
        case ALLTOALLV:
            BEGIN(alltoallv, Alltoallv, from, pair_counts[slot], pair_starts[slot], MPI_INT, into, pair_counts[slot],
                  pair_starts[slot], MPI_INT, comm);
            break;
        default: BEGIN(barrier, Barrier, comm);
    }
    call->has_own_type = derives;
    call->own_type = type;
    call->own_operator = op;
    if (is_persistent && !frees_early) return;
    if (derives) MPI_Type_free(&type);
    if (call->has_own_operator) MPI_Op_free(&op);
    call->has_own_type = call->has_own_operator = 0;
}

static int is_used(int slot) { return call_in[slot].from != NULL; }
static int is_under_way(int slot) { return call_in[slot].is_under_way; }

/// Completes some calls, or all: this rank's own choice, by functions of its own choice.
static void complete(int all) {
    int pending = 0, indices[slots], done = 0;
    for (int slot = 0; slot < slots; ++slot) pending += is_under_way(slot);
    while (pending > 0) {
        done = 0;
        switch (draw_alone(5)) {
            case 0: MPI_Waitany(slots, request_of, &indices[0], MPI_STATUS_IGNORE), done = 1; break;
            case 1: MPI_Waitsome(slots, request_of, &done, indices, MPI_STATUSES_IGNORE); break;
            case 2: MPI_Testsome(slots, request_of, &done, indices, MPI_STATUSES_IGNORE); break;
            case 3:
                indices[0] = draw_alone(slots);
                if (!is_under_way(indices[0])) continue;
                MPI_Wait(&request_of[indices[0]], MPI_STATUS_IGNORE), done = 1;
                break;
            default: {
                int flag = 0;
                indices[0] = draw_alone(slots);
                if (!is_under_way(indices[0])) continue;
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

static void finish(int slot) {
    if (!is_under_way(slot)) return;
    MPI_Wait(&request_of[slot], MPI_STATUS_IGNORE);
    check(&call_in[slot]);
}

/// All ranks must find the same slot free: it is this rank's part to make it so.
static int freed_slot(void) {
    const int slot = draw(first_persistent);
    finish(slot);
    return slot;
}

/// Frees a persistent call, and makes another one in its place.
static void make_persistent(MPI_Comm comm) {
    const int slot = first_persistent + draw(slots - first_persistent);
    finish(slot);
    if (is_used(slot)) {
        MPI_Request_free(&request_of[slot]);
        end(&call_in[slot]);
    }
    begin(slot, draw(collectives), draw(4) == 0 ? 1 + draw(most_elements) : 1 + draw(20), draw(size), comm);
}

/// Starts some persistent calls, from a slot of this rank's own choice on.
static void start_persistent(void) {
    enum { all = slots - first_persistent };
    int starts[all];
    for (int i = 0; i < all; ++i) starts[i] = draw(2);
    const int first = draw_alone(all), at_once = draw_alone(2);
    MPI_Request started[all];
    int places[all], number = 0;
    for (int i = 0; i < all; ++i) {
        const int slot = first_persistent + (first + i) % all;
        if (!starts[slot - first_persistent] || !is_used(slot)) continue;
        finish(slot);
        fill(&call_in[slot], calls + slot);
        places[number] = slot;
        started[number++] = request_of[slot];
        if (!at_once) MPI_Start(&request_of[slot]);
    }
    calls += slots;
    if (!at_once) return;
    MPI_Startall(number, started);
    for (int i = 0; i < number; ++i) request_of[places[i]] = started[i];
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
static void use_once(void) {
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
    frees_early = atoi(argv[3]);
    const int steps = atoi(argv[2]), persistent = HAS_PERSISTENT && atoi(argv[4]);
    for (int slot = 0; slot < slots; ++slot) request_of[slot] = MPI_REQUEST_NULL;
    for (int step = 0; step < steps; ++step) {
        switch (draw(persistent ? 10 : 8)) {
            case 0: complete(0); break;
            case 1: pass_message(step); break;
            case 2: call_blocking(step); break;
            case 3:
                if (draw(8) == 0) use_once();
                break;
            case 8: start_persistent(); break;
            case 9: make_persistent(draw(2) ? world : reversed); break;
            default: {
                const int elements = draw(4) == 0 ? 1 + draw(most_elements) : 1 + draw(20);
                begin(freed_slot(), draw(collectives), elements, draw(size), draw(2) ? world : reversed);
            }
        }
    }
    complete(1);
    for (int slot = first_persistent; slot < slots; ++slot) {
        if (!is_used(slot)) continue;
        MPI_Request_free(&request_of[slot]);
        end(&call_in[slot]);
    }
    MPI_Comm_free(&reversed);
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\ncalls %d\n", all, calls);
    MPI_Finalize();
    return failures != 0;
}
