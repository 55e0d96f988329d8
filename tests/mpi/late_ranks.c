// SPDX-License-Identifier: BSD-3-Clause
// One rank comes late to a collective in which the others may go on without it: so late that a guard has given up to
// time the call. Soon after it the communicator ends. Arguments:
//   the collective: bcast, reduce, scan, exscan, scatter or gather
//   the communicator: world, dup (of it), or split (all ranks of the world but the last)
//   its end: finalize, free, disconnect, or hasty: those who are not late free it, and say so to the late rank, which
//   comes only then
//   milliseconds that the rank is late
//   milliseconds that rank 0 computes after the call, where it is not late, before it calls MPI again
//   communicators of this kind, on which there is such a call, one after the other
// Prints how many milliseconds the calls took: the rank that waited longest, and the late one. Then how many results
// were wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 16, part = 20, short_part = 1 };
enum { first_of_part = 24 };  // calls in which a part of the world waits for what the world finds out

static const char* collective;
static int rank, size;
static double input[part * most_ranks], output[part * most_ranks];

/// Who needs the others' data is late, and whose data they need is not.
static int root_of(void) {
    return strcmp(collective, "gather") == 0 || strcmp(collective, "reduce") == 0 ? size - 1 : 0;
}

/// How many results are wrong.
static int call(MPI_Comm comm, int count) {
    const int root = root_of(), last = count - 1;
    double expected = 0;
    for (int i = 0; i < count * size; ++i) input[i] = rank + 1 + i % 7, output[i] = -1;
    if (strcmp(collective, "bcast") == 0) {
        MPI_Bcast(input, count, MPI_DOUBLE, root, comm);
        return input[last] != root + 1 + last % 7;
    }
    if (strcmp(collective, "reduce") == 0) {
        MPI_Reduce(input, output, count, MPI_DOUBLE, MPI_MAX, root, comm);
        return rank == root && output[last] != size + last % 7;
    }
    if (strcmp(collective, "scan") == 0) {
        MPI_Scan(input, output, count, MPI_DOUBLE, MPI_MAX, comm);
        return output[last] != rank + 1 + last % 7;
    }
    if (strcmp(collective, "exscan") == 0) {
        MPI_Exscan(input, output, count, MPI_DOUBLE, MPI_MAX, comm);
        return rank > 0 && output[last] != rank + last % 7;
    }
    if (strcmp(collective, "scatter") == 0) {
        MPI_Scatter(input, count, MPI_DOUBLE, output, count, MPI_DOUBLE, root, comm);
        expected = root + 1 + (rank * count + last) % 7;
        return output[last] != expected;
    }
    MPI_Gather(input, count, MPI_DOUBLE, output, count, MPI_DOUBLE, root, comm);
    return rank == root && output[last] != 1 + last % 7;
}

static void sleep_for(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

static MPI_Comm make(const char* made) {
    int world_rank = 0, world_size = 1;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (strcmp(made, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(made, "split") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, world_rank < world_size - 1 ? 0 : MPI_UNDEFINED, 0, &comm);
    }
    return comm;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 7) return 2;
    collective = argv[1];
    const char *const made = argv[2], *const ending = argv[3];
    const int late = atoi(argv[4]), busy = atoi(argv[5]), number = atoi(argv[6]);
    const int is_part = strcmp(made, "split") == 0, is_hasty = strcmp(ending, "hasty") == 0;
    const int stays = strcmp(ending, "finalize") == 0;
    int failures = 0, word = 0, is_late = 0;
    MPI_Comm* const comms = malloc((size_t)number * sizeof *comms);
    for (int i = 0; i < number; ++i) comms[i] = make(made);
    double times[2] = {0, 0};
    if (comms[0] != MPI_COMM_NULL) {
        MPI_Comm_rank(comms[0], &rank);
        MPI_Comm_size(comms[0], &size);
        const int last = size - 1;
        is_late = rank == last;
        // Whatever ranks find out together in the first call on a communicator, and in the first ones on a part.
        for (int i = 0; i < number && comms[i] != MPI_COMM_WORLD; ++i) {
            failures += call(comms[i], short_part);
            for (int first = 0; is_part && first < first_of_part; ++first) failures += call(comms[i], part);
        }
        if (is_late && is_hasty) {
            for (int other = 0; other < last; ++other) {
                MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        } else if (is_late) {
            sleep_for(late);
        }
        const double start = MPI_Wtime();
        for (int i = 0; i < number; ++i) failures += call(comms[i], part);
        times[is_late] = MPI_Wtime() - start;
        if (rank == 0 && !is_late) sleep_for(busy);
        for (int i = 0; i < number && !stays; ++i) {
            if (!is_hasty) failures += call(comms[i], part);  // in time
            if (strcmp(ending, "disconnect") == 0) MPI_Comm_disconnect(&comms[i]);
            else MPI_Comm_free(&comms[i]);
        }
        // The same rank of the world: the part has the first ones.
        if (is_hasty && !is_late) MPI_Send(&word, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
    }
    free(comms);
    int wrong = failures;
    if (!stays) {  // else nothing that ranks meet in shall come between the call and the end
        double longest[2] = {0, 0};
        MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        memcpy(times, longest, sizeof times);
        MPI_Allreduce(&failures, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("%.0f %.0f %d\n", 1e3 * times[0], 1e3 * times[1], wrong);
    MPI_Finalize();
    return wrong != 0;
}
