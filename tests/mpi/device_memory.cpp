// SPDX-License-Identifier: BSD-3-Clause
// Collectives of which the last rank alone has its data in memory of a device, every second time. Only that rank has a
// GPU runtime loaded.
//
//   device_memory RUNTIME ROUNDS
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int failures = 0;

void expect(bool right) {
    if (!right) ++failures;
}

void call_all(long* input, long* output, int rank, int size) {
    const long sum = static_cast<long>(size) * (size + 1) / 2;
    const int last = size - 1;
    const auto fill = [&] {
        for (int index = 0; index < size; ++index) input[index] = rank + 1;
        for (int index = 0; index < size; ++index) output[index] = -1;
    };
    fill();
    MPI_Allreduce(input, output, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(output[0] == sum);
    MPI_Bcast(input, 1, MPI_LONG, last, MPI_COMM_WORLD);
    expect(input[0] == size);
    fill();
    MPI_Reduce(input, output, 1, MPI_LONG, MPI_SUM, last, MPI_COMM_WORLD);
    expect(rank != last || output[0] == sum);
    MPI_Scan(input, output, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(output[0] == static_cast<long>(rank + 1) * (rank + 2) / 2);
    MPI_Exscan(input, output, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(rank == 0 || output[0] == static_cast<long>(rank) * (rank + 1) / 2);
    MPI_Reduce_scatter_block(input, output, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(output[0] == sum);
    MPI_Allgather(input, 1, MPI_LONG, output, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int index = 0; index < size; ++index) expect(output[index] == index + 1);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    long* device = nullptr;
    int (*questions)() = nullptr;
    if (rank == size - 1) {
        void* const runtime = dlopen(argv[1], RTLD_NOW);
        if (runtime == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
        device = reinterpret_cast<long* (*)()>(dlsym(runtime, "stand_in_memory"))();
        questions = reinterpret_cast<int (*)()>(dlsym(runtime, "stand_in_questions"));
    }
    std::vector<long> host(2 * static_cast<std::size_t>(size));
    for (int round = 0; round < std::atoi(argv[2]); ++round) {
        long* const buffer = device != nullptr && round % 2 == 1 ? device : host.data();
        call_all(buffer, buffer + size, rank, size);
    }
    if (questions != nullptr) std::printf("questions %d\n", questions());
    int total = 0;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\n", total);
    MPI_Finalize();
    return total == 0 ? 0 : 1;
}
