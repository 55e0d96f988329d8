// SPDX-License-Identifier: BSD-3-Clause
// Each rank filters its share of a large particle array and writes the survivors, sorted by cell, to one file. Where a
// survivor goes is found by exclusive scans: one number for the count of survivors, and a whole histogram for the
// cells. An ordinary MPI program: nothing in it knows of Rondo.
//
// Usage: particle_filter OUTPUT [STEPS [PARTICLES_PER_RANK]]
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CELLS = 1 << 17 };

static double seconds_in_scans = 0;

static void exclusive_scan(const int64_t* own, int64_t* before, int count) {
    const double start = MPI_Wtime();
    MPI_Exscan(own, before, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    seconds_in_scans += MPI_Wtime() - start;
}

// A particle is a random number; its cell is its low bits, and it survives a step by its high ones.
static uint64_t next_random(uint64_t* state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t filter(uint64_t* survivors, int64_t particles, uint64_t seed) {
    int64_t count = 0;
    for (int64_t i = 0; i < particles; ++i) {
        const uint64_t particle = next_random(&seed);
        if (particle >> 62 == 0) survivors[count++] = particle;
    }
    return count;
}

static void* allocate(int64_t count) {
    void* memory = calloc((size_t)count, sizeof(int64_t));
    if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) {
        if (rank == 0) fprintf(stderr, "usage: %s OUTPUT [STEPS [PARTICLES_PER_RANK]]\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    const int steps = argc > 2 ? atoi(argv[2]) : 20;
    const int64_t particles = argc > 3 ? atoll(argv[3]) : 200000;

    uint64_t* survivors = allocate(particles);
    int64_t* in_cell = allocate(CELLS);   // of this rank
    int64_t* position = allocate(CELLS);  // where this rank's next survivor of a cell goes
    int64_t* total = allocate(CELLS);     // of all ranks
    const int file = open(argv[1], O_WRONLY | O_CREAT, 0666);
    if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);

    int64_t written = 0;  // by all ranks, in the steps before
    for (int step = 0; step < steps; ++step) {
        int64_t count = filter(survivors, particles, (uint64_t)step * (uint64_t)size + (uint64_t)rank);

        // The short scan: how many survivors have the ranks before this one?
        int64_t first = 0, all = 0;
        exclusive_scan(&count, &first, 1);
        if (rank == 0) first = 0;
        all = first + count;
        MPI_Bcast(&all, 1, MPI_INT64_T, size - 1, MPI_COMM_WORLD);

        // The long scan: and how many in every cell?
        for (int cell = 0; cell < CELLS; ++cell) in_cell[cell] = 0;
        for (int64_t i = 0; i < count; ++i) ++in_cell[survivors[i] % CELLS];
        for (int cell = 0; cell < CELLS; ++cell) position[cell] = 0;
        exclusive_scan(in_cell, position, CELLS);
        for (int cell = 0; cell < CELLS; ++cell) total[cell] = position[cell] + in_cell[cell];
        MPI_Bcast(total, CELLS, MPI_INT64_T, size - 1, MPI_COMM_WORLD);
        int64_t start_of_cell = written;
        for (int cell = 0; cell < CELLS; ++cell) {
            position[cell] += start_of_cell;
            start_of_cell += total[cell];
        }
        if (start_of_cell != written + all) MPI_Abort(MPI_COMM_WORLD, 1);

        // Writing every survivor by itself would time the file system: only the last step goes to the file.
        if (step + 1 < steps) continue;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t place = position[survivors[i] % CELLS]++;
            if (pwrite(file, &survivors[i], 8, place * 8) != 8) MPI_Abort(MPI_COMM_WORLD, 1);
        }
        written += all;
    }
    close(file);

    double slowest = 0;
    MPI_Reduce(&seconds_in_scans, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%lld survivors, %.6f seconds in MPI_Exscan\n", (long long)written, slowest);
    MPI_Finalize();
    return 0;
}
