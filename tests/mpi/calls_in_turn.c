// SPDX-License-Identifier: BSD-3-Clause
// Calls of several lengths, types, operators, roots and communicators in turn, with and without MPI_IN_PLACE, while
// communicators are freed and made again. Prints how often a result was wrong.
#include <mpi.h>
#include <stdio.h>

enum { rounds = 60, most = 3000, lengths = 7 };

static int rank, size, failures;  // the rank in the communicator of a call
static long input[most], output[most];
static const int counts[lengths] = {1, 3000, 2, 17, 0, 400, 1};

static void fill(int seed, int count) {
    for (int i = 0; i < count; ++i) {
        input[i] = seed + rank + i;
        output[i] = -1;
    }
}

// A sum over the ranks before `to` of what `fill` wrote.
static long sum_before(int to, int seed, int i) { return (long)to * (seed + i) + (long)to * (to - 1) / 2; }

static void reduce_all(MPI_Comm comm, int seed, int count) {
    const int in_place = seed % 3 == 0, greatest = seed % 2;
    fill(seed, count);
    for (int i = 0; in_place && i < count; ++i) output[i] = input[i];
    MPI_Allreduce(in_place ? MPI_IN_PLACE : input, output, count, MPI_LONG, greatest ? MPI_MAX : MPI_SUM, comm);
    for (int i = 0; i < count; ++i) {
        failures += output[i] != (greatest ? seed + size - 1 + i : sum_before(size, seed, i));
    }
}

static void scan(MPI_Comm comm, int seed, int count) {
    fill(seed, count);
    MPI_Exscan(input, output, count, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) failures += output[i] != (rank == 0 ? -1 : sum_before(rank, seed, i));
}

static void broadcast(MPI_Comm comm, int seed, int count) {
    const int root = seed % size;
    fill(seed, count);
    MPI_Bcast(rank == root ? input : output, seed % 2 ? count : 8 * count, seed % 2 ? MPI_LONG : MPI_BYTE, root, comm);
    for (int i = 0; i < count; ++i) failures += (rank == root ? input : output)[i] != seed + root + i;
}

// The root says of its own part nothing, or something that means nothing.
static void gather(MPI_Comm comm, int seed, int count) {
    const int root = seed % size, in_place = rank == root && seed % 3 == 0;
    const int part = count / 16 + count % 2;
    static long whole[most];
    fill(seed, part);
    for (int i = 0; i < part; ++i) whole[rank * part + i] = input[i];
    MPI_Gather(in_place ? MPI_IN_PLACE : input, in_place ? counts[seed % lengths] : part, MPI_LONG, whole,
               rank == root ? part : counts[seed % lengths], rank == root ? MPI_LONG : MPI_INT, root, comm);
    for (int i = 0; rank == root && i < size * part; ++i) failures += whole[i] != seed + i / part + i % part;
}

// The library's, then Rondo's, then one on a communicator in which the root has another rank, then one of Rondo's whose
// root, were it no root, would say what it said in the first one.
static void gather_of_another_root(MPI_Comm comm) {
    static long whole[most];
    const int root = size - 1, is_root = rank == root, few = 2, many = 300;
    for (int i = 0; i < 3; ++i) MPI_Gather(input, few, MPI_LONG, whole, few, MPI_LONG, root, comm);
    MPI_Gather(input, many, MPI_LONG, whole, many, MPI_LONG, root, comm);
    MPI_Gather(input, few, MPI_LONG, whole, few, MPI_LONG, root, MPI_COMM_WORLD);
    fill(0, many);
    for (int i = 0; i < many; ++i) whole[rank * many + i] = input[i];
    MPI_Gather(is_root ? MPI_IN_PLACE : input, is_root ? few : many, MPI_LONG, whole, many, MPI_LONG, root, comm);
    for (int i = 0; is_root && i < size * many; ++i) failures += whole[i] != i / many + i % many;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    int seed = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int length = 0; length < lengths; ++length) {
            const MPI_Comm comm = (round + length) % 4 == 0 ? other : MPI_COMM_WORLD;
            MPI_Comm_rank(comm, &rank);
            reduce_all(comm, ++seed, counts[length]);
            scan(comm, ++seed, counts[length]);
            broadcast(comm, ++seed, counts[length]);
            gather(comm, ++seed, counts[length]);
            if (length % 3 == 2) MPI_Barrier(comm);
        }
        if (round % 8 != 7) continue;
        MPI_Comm_rank(other, &rank);
        gather_of_another_root(other);
        MPI_Comm_free(&other);
        // May get the handle of the one before; its ranks may be numbered the other way round.
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, 0, round % 16 == 7 ? -rank : rank, &other);
    }
    MPI_Comm_free(&other);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("failures %d\n", failures);
    MPI_Finalize();
    return failures != 0;
}
