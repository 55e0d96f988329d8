// SPDX-License-Identifier: BSD-3-Clause
// Random collective calls, each kind of them repeated up to a hundred times in a row: new data each time, in place or
// not, one of two buffers, now and then another kind of call in between, on the world, a copy of it, its halves and its
// ranks in reverse order, some of which are freed and made anew. Arguments: seed, how many kinds, and the collectives
// (default: all). Results are known whatever the order of summation, for all values are small integers. Prints how
// often a result was wrong, how many calls there were, and how many of them Rondo carried out on this rank without a
// second look.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_elements = 20000, most_ranks = 8, communicators = 4 };
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
    REDUCE_SCATTER,
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    BARRIER,
    collectives
};
static const char* const names[collectives] = {
    "bcast",    "reduce",         "allreduce",      "scan",      "exscan",  "scatter",  "gather",    "allgather",
    "alltoall", "reduce_scatter", "reduce_scatter", "allgather", "gatherv", "scatterv", "alltoallv", "barrier"};
enum { SUM, MAX, XOR, operators };
enum { INT, DOUBLE, CHAR, types };

typedef struct {
    int collective, elements, type, operation, root, comm;
} Kind;

static unsigned int state;
static int failures, calls;
static MPI_Comm comms[communicators];
static double memory[4][most_elements * most_ranks + 64];
static int counts[most_ranks], starts[most_ranks];

/// Below a bound; all ranks draw the same.
static int draw(int bound) {
    state = state * 1664525U + 1013904223U;
    return (int)((state >> 8) % (unsigned int)bound);
}

static MPI_Datatype type_of(int type) { return type == INT ? MPI_INT : type == DOUBLE ? MPI_DOUBLE : MPI_SIGNED_CHAR; }
static MPI_Op operation_of(int operation) { return operation == SUM ? MPI_SUM : operation == MAX ? MPI_MAX : MPI_BXOR; }

static void set(void* vector, int type, int i, int value) {
    if (type == INT) ((int*)vector)[i] = value;
    else if (type == DOUBLE) ((double*)vector)[i] = value;
    else ((signed char*)vector)[i] = (signed char)value;
}

static int get(const void* vector, int type, int i) {
    if (type == INT) return ((const int*)vector)[i];
    if (type == DOUBLE) return (int)((const double*)vector)[i];
    return ((const signed char*)vector)[i];
}

static void* at(void* vector, int type, int i) {
    const size_t bytes = type == INT ? sizeof(int) : type == DOUBLE ? sizeof(double) : 1;
    return (char*)vector + bytes * (size_t)i;
}

/// What a rank of the communicator contributes.
static int value(int rank, int i, int call) { return (rank * 7 + i * 3 + call) % 5; }

static int combined(const Kind* kind, int ranks, int i, int call) {
    int result = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const int each = value(rank, i, call);
        if (kind->operation == XOR) result ^= each;
        else if (kind->operation == SUM) result += each;
        else result = rank == 0 || each > result ? each : result;
    }
    return result;
}

static void expect(int found, int expected) { failures += found != expected; }

static void reduce(const Kind* kind, MPI_Comm comm, int rank, int size, int in_place, double* from, double* into) {
    const MPI_Datatype type = type_of(kind->type);
    const MPI_Op op = operation_of(kind->operation);
    const int n = kind->elements, is_vector = kind->collective >= REDUCE_SCATTER_BLOCK;
    const int whole = is_vector ? n * size : n, uneven = kind->collective == REDUCE_SCATTER;
    double* const own = in_place ? into : from;
    for (int i = 0; i < whole; ++i) set(own, kind->type, i, value(rank, i, calls));
    const void* const input = in_place ? MPI_IN_PLACE : (const void*)from;
    int first = 0, elements = n, ranks = size;
    switch (kind->collective) {
        case ALLREDUCE: MPI_Allreduce(input, into, n, type, op, comm); break;
        case REDUCE:
            MPI_Reduce(rank == kind->root ? input : own, rank == kind->root ? into : NULL, n, type, op, kind->root,
                       comm);
            if (rank != kind->root) return;
            break;
        case SCAN: MPI_Scan(input, into, n, type, op, comm), ranks = rank + 1; break;
        case EXSCAN:
            MPI_Exscan(input, into, n, type, op, comm), ranks = rank;
            if (rank == 0) return;
            break;
        default:
            for (int i = 0; i < size; ++i) counts[i] = uneven && size > 1 ? (i == 0 ? 0 : i == 1 ? 2 * n : n) : n;
            for (int i = 0; i < rank; ++i) first += counts[i];
            elements = counts[rank];
            if (uneven) MPI_Reduce_scatter(input, into, counts, type, op, comm);
            else MPI_Reduce_scatter_block(input, into, n, type, op, comm);
    }
    for (int i = 0; i < elements; ++i) {
        expect(get(into, kind->type, i), combined(kind, ranks, first + i, calls));
    }
}

/// Each rank's part has its own length where counts are arguments.
static void move(const Kind* kind, MPI_Comm comm, int rank, int size, int in_place, double* from, double* into) {
    const MPI_Datatype type = type_of(kind->type);
    const int n = kind->elements, root = kind->root, is_root = rank == root;
    const int uneven = kind->collective >= ALLGATHERV;
    for (int i = 0, start = 0; i < size; ++i) {
        counts[i] = uneven ? (i + calls / 8) % 3 * n / 2 : n;
        starts[i] = start;
        start += counts[i];
    }
    const int own = counts[rank];
    void* const part = at(into, kind->type, starts[rank]);
    switch (kind->collective) {
        case BCAST:
            for (int i = 0; i < n; ++i) set(into, kind->type, i, is_root ? value(root, i, calls) : -1);
            MPI_Bcast(into, n, type, root, comm);
            for (int i = 0; i < n; ++i) expect(get(into, kind->type, i), value(root, i, calls));
            return;
        case SCATTER:
        case SCATTERV: {
            for (int i = 0; is_root && i < starts[size - 1] + counts[size - 1]; ++i) {
                set(from, kind->type, i, value(root, i, calls));
            }
            void* const target = is_root && in_place ? MPI_IN_PLACE : (void*)into;
            if (uneven) MPI_Scatterv(from, counts, starts, type, target, own, type, root, comm);
            else MPI_Scatter(from, n, type, target, n, type, root, comm);
            for (int i = 0; i < own && target != MPI_IN_PLACE; ++i) {
                expect(get(into, kind->type, i), value(root, starts[rank] + i, calls));
            }
            return;
        }
        case ALLTOALL:
        case ALLTOALLV:
            if (uneven) {  // to whom, from whom: by the sum of both ranks
                for (int i = 0, start = 0; i < size; ++i) {
                    counts[i] = (i + rank) % 3 * n / 2;
                    starts[i] = start;
                    start += counts[i];
                }
            }
            for (int other = 0; other < size; ++other) {
                for (int i = 0; i < counts[other]; ++i) {
                    set(in_place ? into : from, kind->type, starts[other] + i, value(rank, other + i, calls));
                }
            }
            {
                const void* const input = in_place ? MPI_IN_PLACE : (const void*)from;
                if (uneven) MPI_Alltoallv(input, counts, starts, type, into, counts, starts, type, comm);
                else MPI_Alltoall(input, n, type, into, n, type, comm);
            }
            for (int other = 0; other < size; ++other) {
                for (int i = 0; i < counts[other]; ++i) {
                    expect(get(into, kind->type, starts[other] + i), value(other, rank + i, calls));
                }
            }
            return;
        default: break;
    }
    // Gathers, to the root or to all.
    const int to_all = kind->collective == ALLGATHER || kind->collective == ALLGATHERV, receives = to_all || is_root;
    const int is_there = in_place && receives;
    for (int i = 0; i < own; ++i) set(is_there ? part : from, kind->type, i, value(rank, i, calls));
    const void* const input = is_there ? MPI_IN_PLACE : (const void*)from;
    switch (kind->collective) {
        case GATHER: MPI_Gather(input, n, type, into, n, type, root, comm); break;
        case GATHERV: MPI_Gatherv(input, own, type, into, counts, starts, type, root, comm); break;
        case ALLGATHER: MPI_Allgather(input, n, type, into, n, type, comm); break;
        default: MPI_Allgatherv(input, own, type, into, counts, starts, type, comm);
    }
    for (int other = 0; receives && other < size; ++other) {
        for (int i = 0; i < counts[other]; ++i) {
            expect(get(into, kind->type, starts[other] + i), value(other, i, calls));
        }
    }
}

static void call(const Kind* kind, int in_place, int buffer) {
    const MPI_Comm comm = comms[kind->comm];
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Kind here = *kind;
    here.root %= size;
    const int reduces = (here.collective >= REDUCE && here.collective <= EXSCAN) ||
                        here.collective == REDUCE_SCATTER_BLOCK || here.collective == REDUCE_SCATTER;
    ++calls;
    if (here.collective == BARRIER) MPI_Barrier(comm);
    else (reduces ? reduce : move)(&here, comm, rank, size, in_place, memory[2 * buffer], memory[2 * buffer + 1]);
}

static int wanted[collectives], number_wanted;

static void want(int words, char** word) {
    for (int each = 0; each < collectives; ++each) {
        int is_wanted = words == 0;
        for (int i = 0; i < words; ++i) is_wanted |= !strcmp(word[i], names[each]);
        if (is_wanted) wanted[number_wanted++] = each;
    }
    if (number_wanted == 0) MPI_Abort(MPI_COMM_WORLD, 2);
}

static Kind any_kind(void) {
    static const int lengths[] = {1, 1, 2, 7, 30, 64, 300, 513, 2000, most_elements};
    Kind kind = {.collective = wanted[draw(number_wanted)], .elements = lengths[draw(10)], .type = draw(types)};
    kind.operation = kind.type == DOUBLE ? draw(XOR) : draw(operators);
    kind.root = draw(most_ranks);
    kind.comm = draw(communicators);
    return kind;
}

static void make_communicators(int from) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = from; i < communicators; ++i) {
        if (i == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        else MPI_Comm_split(MPI_COMM_WORLD, i == 2 ? rank % 2 : 0, i == 2 ? rank : -rank, &comms[i]);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    state = (unsigned int)(argc > 1 ? atoi(argv[1]) : 1);
    const int kinds = argc > 2 ? atoi(argv[2]) : 100;
    want(argc > 3 ? argc - 3 : 0, argv + 3);
    comms[0] = MPI_COMM_WORLD;
    make_communicators(1);
    for (int i = 0; i < kinds; ++i) {
        const Kind kind = any_kind(), other = any_kind();
        const int is_long = kind.elements > 2000, repetitions = 1 + draw(draw(2) ? 5 : is_long ? 20 : 100);
        const int interruptions = draw(3), keeps_place = draw(2);
        for (int j = 0; j < repetitions; ++j) {
            call(&kind, keeps_place ? 0 : draw(2), draw(4) == 0);
            if (interruptions == 2 && draw(8) == 0) call(&other, 0, 0);
        }
        if (draw(20) == 0) {
            for (int each = 2; each < communicators; ++each) MPI_Comm_free(&comms[each]);
            make_communicators(2);
        }
    }
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned long long (*again)(void) = (unsigned long long (*)(void))dlsym(RTLD_DEFAULT, "rondo_served_again");
    if (rank == 0) printf("failures %d\ncalls %d\nagain %llu\n", all, calls, again != NULL ? again() : 0);
    for (int i = 1; i < communicators; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return failures != 0;
}
