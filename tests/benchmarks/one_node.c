/* SPDX-License-Identifier: BSD-3-Clause */
/* Times collectives between the ranks of one node. Prints for each collective and count: its name, the bytes of a
 * vector, how ranks start, and microseconds. "together": they meet in memory that they share, which takes less than any
 * collective of a library; the median over repetitions of the longest time of a rank. "row": calls follow one another,
 * and each rank starts when its last call ends; the median over rows, of a call's time on the slowest rank. "least": of
 * the fastest row, which others disturb least. "iallreduce" and "allreduce_init" are the other forms, until MPI_Wait
 * has returned, the latter from MPI_Start. "by_hand" is an allreduce of one int with a line of memory for each rank and
 * no library: the least that counts. With "calls" in place of sizes: for each <collective>:<bytes>, so many calls in a
 * row, and microseconds of one. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    _Alignas(64) atomic_long call;
    int element;
} Sent;

typedef struct {
    _Alignas(128) atomic_long turn;
    Sent sent[2]; /* of two calls that follow one another: nobody is further ahead */
} Line;

enum { most_ranks = 256, most_repetitions = 5000, calls_in_a_row = 500, longest_in_a_row = 4096 };

static Line* lines[most_ranks];
static int rank, size;
static long turn;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void meet(void) {
    atomic_store_explicit(&lines[rank]->turn, ++turn, memory_order_release);
    for (int i = 0; i < size; ++i) {
        for (long polls = 0; atomic_load_explicit(&lines[i]->turn, memory_order_acquire) < turn; ++polls) {
            if (polls > 10000) sched_yield();
        }
    }
}

static int *input, *output, counts[most_ranks], parts[most_ranks], offsets[most_ranks]; /* equal parts */

static void by_hand(void) {
    static long call;
    Sent* const own = &lines[rank]->sent[++call % 2];
    own->element = input[0];
    atomic_store_explicit(&own->call, call, memory_order_release);
    int sum = 0;
    for (int i = 0; i < size; ++i) {
        Sent* const sent = &lines[i]->sent[call % 2];
        for (long polls = 0; atomic_load_explicit(&sent->call, memory_order_acquire) != call; ++polls) {
            if (polls > 10000) sched_yield();
        }
        sum += sent->element;
    }
    output[0] = sum;
}

static void call_nonblocking(int count) {
    MPI_Request request;
    MPI_Iallreduce(input, output, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Request persistent = MPI_REQUEST_NULL;

static void free_persistent(void) {
    if (persistent != MPI_REQUEST_NULL) MPI_Request_free(&persistent);
}

static void call_persistent(int count) {
    static int count_of_request;
    if (persistent == MPI_REQUEST_NULL || count != count_of_request) { /* not among the calls that are timed */
        free_persistent();
        MPI_Allreduce_init(input, output, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
        count_of_request = count;
    }
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

static void call(const char* collective, int count) {
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(collective, "iallreduce")) call_nonblocking(count);
    else if (!strcmp(collective, "allreduce_init")) call_persistent(count);
    else if (!strcmp(collective, "allreduce")) MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "bcast")) MPI_Bcast(output, count, MPI_INT, 0, world);
    else if (!strcmp(collective, "reduce")) MPI_Reduce(input, output, count, MPI_INT, MPI_SUM, 0, world);
    else if (!strcmp(collective, "scan")) MPI_Scan(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "exscan")) MPI_Exscan(input, output, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "allgather"))
        MPI_Allgather(input, counts[size - 1], MPI_INT, output, counts[size - 1], MPI_INT, world);
    else if (!strcmp(collective, "reduce_scatter")) MPI_Reduce_scatter(input, output, counts, MPI_INT, MPI_SUM, world);
    else if (!strcmp(collective, "alltoall"))
        MPI_Alltoall(input, counts[size - 1], MPI_INT, output, counts[size - 1], MPI_INT, world);
    else if (!strcmp(collective, "gather"))
        MPI_Gather(input, counts[size - 1], MPI_INT, output, counts[size - 1], MPI_INT, 0, world);
    else if (!strcmp(collective, "scatter"))
        MPI_Scatter(input, counts[size - 1], MPI_INT, output, counts[size - 1], MPI_INT, 0, world);
    else if (!strcmp(collective, "alltoallv"))
        MPI_Alltoallv(input, parts, offsets, MPI_INT, output, parts, offsets, MPI_INT, world);
    else if (!strcmp(collective, "gatherv"))
        MPI_Gatherv(input, parts[rank], MPI_INT, output, parts, offsets, MPI_INT, 0, world);
    else if (!strcmp(collective, "scatterv"))
        MPI_Scatterv(input, parts, offsets, MPI_INT, output, parts[rank], MPI_INT, 0, world);
    else if (!strcmp(collective, "barrier")) MPI_Barrier(world);
    else if (!strcmp(collective, "by_hand")) by_hand();
    else MPI_Abort(world, 2);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Of what each repetition took the slowest rank: the median, and of rows the least, too. */
static void print_times(const char* collective, size_t bytes, const char* start, const double* times, int repetitions) {
    static double worst[most_repetitions];
    MPI_Reduce(times, worst, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    qsort(worst, (size_t)repetitions, sizeof(double), compare);
    printf("%s %zu %s %.3f\n", collective, bytes, start, worst[repetitions / 2]);
    if (!strcmp(start, "row")) printf("%s %zu least %.3f\n", collective, bytes, worst[0]);
}

static int repetitions_in(double budget, double each) {
    const int repetitions = (int)(budget / (each + 1));
    return repetitions < 7 ? 7 : repetitions > most_repetitions ? most_repetitions : repetitions;
}

static void allocate(size_t longest) {
    input = malloc(longest + 256);
    output = malloc(longest + 256);
    for (size_t i = 0; i < longest / sizeof(int); ++i) input[i] = output[i] = (int)i + rank;
}

/* Returns a count of that many bytes. Where parts are equal, the last one's length is theirs. */
static int divide(size_t bytes, const char* collective) {
    const int count = (int)(bytes / sizeof(int)), may_be_empty = !strcmp(collective, "reduce_scatter");
    for (int i = 0; i < size; ++i) counts[i] = count / size + (i < count % size);
    if (count < size && !may_be_empty) counts[size - 1] = 1; /* or nothing would be sent */
    for (int i = 0; i < size; ++i) {
        parts[i] = counts[size - 1];
        offsets[i] = i * counts[size - 1];
    }
    return count;
}

static int run_of_calls(int argc, char** argv) { /* calls <how many> <collective>:<bytes>... */
    allocate(1 << 24);
    for (int word = 3; word < argc; ++word) {
        char* bytes = strchr(argv[word], ':');
        if (bytes == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
        *bytes++ = 0;
        const size_t length = strtoul(bytes, NULL, 10);
        const int calls = atoi(argv[2]) / (length < 1 << 18 ? 1 : 10), count = divide(length, argv[word]);
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        for (int i = 0; i < calls; ++i) call(argv[word], count);
        double took = (now() - start) / calls, longest = 0;
        MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %zu calls %.4f\n", argv[word], length, longest);
    }
    free_persistent();
    MPI_Finalize();
    return 0;
}

int main(int argc, char** argv) { /* <shortest> <longest> <milliseconds for each> <collective>... */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4 || size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
    if (!strcmp(argv[1], "calls")) return run_of_calls(argc, argv);
    void* own;
    MPI_Win window;
    MPI_Win_allocate_shared(sizeof(Line), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    memset(own, 0, sizeof(Line));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &lines[i]);
    }
    const size_t longest = strtoul(argv[2], NULL, 10), shortest = strtoul(argv[1], NULL, 10);
    const double budget = 1e3 * atof(argv[3]);
    allocate(longest);
    static double times[most_repetitions];
    for (int word = 4; word < argc; ++word) {
        const int has_data = strcmp(argv[word], "barrier") != 0, has_sizes = has_data && strcmp(argv[word], "by_hand");
        for (size_t bytes = has_sizes ? shortest : 4 * (size_t)has_data; bytes <= longest; bytes *= 4) {
            const int count = divide(bytes, argv[word]);
            double first = 1e30;
            for (int i = 0; i < 5; ++i) {
                meet();
                const double start = now();
                call(argv[word], count);
                const double took = now() - start;
                first = took < first ? took : first;
            }
            MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            const int repetitions = repetitions_in(budget, first);
            for (int i = 0; i < repetitions; ++i) {
                meet();
                const double start = now();
                call(argv[word], count);
                times[i] = now() - start;
            }
            print_times(argv[word], bytes, "together", times, repetitions);
            const int rows = bytes <= longest_in_a_row ? repetitions_in(budget, calls_in_a_row * first) : 0;
            for (int i = 0; i < rows; ++i) {
                meet();
                const double start = now();
                for (int each = 0; each < calls_in_a_row; ++each) call(argv[word], count);
                times[i] = (now() - start) / calls_in_a_row;
            }
            if (rows > 0) print_times(argv[word], bytes, "row", times, rows);
            if (!has_sizes) break;
        }
    }
    free_persistent();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
