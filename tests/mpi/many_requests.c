// SPDX-License-Identifier: BSD-3-Clause
// Very many nonblocking and persistent collectives, sixteen under way at a time. Arguments: how many, of which some are
// always under way, so that calls come to need tags that those before them have; and how many on the world and on
// communicators that live for some thousand calls. Prints how many results were wrong, how many calls there were, and
// by how many KiB the memory of the process has grown since the first tenth of the latter.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { at_once = 16, elements = 64, calls_of_a_communicator = 4000, starts_of_a_request = 50 };

static int rank, size, failures, calls;
static int from[at_once][elements], into[at_once][elements];
static MPI_Request requests[at_once], persistent[at_once];

static long resident_kib(void) {
    char line[256];
    long kib = 0;
    FILE* const status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) kib = atol(line + 6);
    }
    if (status != NULL) fclose(status);
    return kib;
}

/// Slots of odd numbers are for broadcasts, the others for sums.
static void fill(int slot) {
    for (int i = 0; i < elements; ++i) {
        from[slot][i] = rank + i + calls;
        into[slot][i] = slot % 2 != 0 && rank == 0 ? i + calls : -1;
    }
}
static void check(int slot, int first_call) {
    const int call = first_call + slot, last = elements - 1;
    const int sum = size * (size - 1) / 2 + size * (last + call);
    failures += into[slot][last] != (slot % 2 != 0 ? last + call : sum);
}

static void begin(int slot, MPI_Comm comm) {
    if (slot % 2 != 0) MPI_Ibcast(into[slot], elements, MPI_INT, 0, comm, &requests[slot]);
    else MPI_Iallreduce(from[slot], into[slot], elements, MPI_INT, MPI_SUM, comm, &requests[slot]);
}

static void make_persistent(MPI_Comm comm) {
    for (int slot = 0; slot < at_once; ++slot) {
        if (slot % 2 != 0) MPI_Bcast_init(into[slot], elements, MPI_INT, 0, comm, MPI_INFO_NULL, &persistent[slot]);
        else
            MPI_Allreduce_init(from[slot], into[slot], elements, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                               &persistent[slot]);
    }
}
static void free_persistent(void) {
    for (int slot = 0; slot < at_once; ++slot) MPI_Request_free(&persistent[slot]);
}

/// Begins and completes a call in each slot.
static void run_round(int is_persistent, MPI_Comm comm) {
    const int first = calls;
    for (int slot = 0; slot < at_once; ++slot, ++calls) {
        fill(slot);
        if (is_persistent) MPI_Start(&persistent[slot]);
        else begin(slot, comm);
    }
    MPI_Waitall(at_once, is_persistent ? persistent : requests, MPI_STATUSES_IGNORE);
    for (int slot = 0; slot < at_once; ++slot) check(slot, first);
}

/// Begins each call right after another one has ended, so that never all are over.
static void overlap(int number) {
    int first[at_once];
    for (int i = 0; i < number + at_once; ++i) {
        const int slot = i % at_once;
        if (i >= at_once) {
            MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
            check(slot, first[slot]);
        }
        if (i >= number) continue;
        fill(slot);
        first[slot] = calls - slot;
        begin(slot, MPI_COMM_WORLD);
        ++calls;
    }
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int overlapping = atoi(argv[1]), all = overlapping + atoi(argv[2]);
    overlap(overlapping);
    long before = 0;
    while (calls < all) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Barrier(copy);
        for (const int end = calls + calls_of_a_communicator; calls < end;) {
            run_round(0, calls % 3 != 0 ? copy : MPI_COMM_WORLD);
            make_persistent(calls % 3 != 0 ? copy : MPI_COMM_WORLD);
            for (int start = 0; start < starts_of_a_request; ++start) run_round(start % 2, MPI_COMM_WORLD);
            free_persistent();
        }
        MPI_Comm_free(&copy);
        if (before == 0 && calls >= overlapping + (all - overlapping) / 10) before = resident_kib();
    }
    const long grown = resident_kib() - before;
    long most = 0;
    int wrong = 0;
    MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&failures, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\ncalls %d\ngrown %ld\n", wrong, calls, most);
    MPI_Finalize();
    return wrong != 0;
}
