// SPDX-License-Identifier: BSD-3-Clause
// Threads that scan at the same time, each on its own communicator. Argument: calls per thread.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int longest = 300;

std::atomic<int> failures{0};
std::atomic<bool> start{false};

void add_function(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
    for (int index = 0; index < *count; ++index) static_cast<long*>(right)[index] += static_cast<long*>(left)[index];
}

void scan_in_a_thread(int thread, MPI_Comm communicator, MPI_Op user_sum, int calls) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    std::vector<long> input(longest);
    std::vector<long> output(longest);
    // Together: the very first calls shall meet.
    while (!start) std::this_thread::yield();
    for (int call = 0; call < calls; ++call) {
        const int count = 1 + (call * 37 + thread * 11) % longest;
        for (int index = 0; index < count; ++index) input[index] = 1000L * thread + index + rank + call;
        const bool exclusive = (call + thread) % 2 == 0;
        const MPI_Op op = call % 5 == 0 ? user_sum : MPI_SUM;
        output.assign(longest, -1);
        (exclusive ? MPI_Exscan : MPI_Scan)(input.data(), output.data(), count, MPI_LONG, op, communicator);
        const long summands = exclusive ? rank : rank + 1;
        for (int index = 0; index < count && summands > 0; ++index) {
            const long sum = summands * (1000L * thread + index + call) + summands * (summands - 1) / 2;
            if (output[index] != sum) ++failures;
        }
        if (count < longest && output[count] != -1) ++failures;
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const int calls = argc > 1 ? std::atoi(argv[1]) : 2000;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::printf("MPI_THREAD_MULTIPLE is not provided\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Op user_sum;
    MPI_Op_create(add_function, 1, &user_sum);
    std::vector<MPI_Comm> communicators(threads);
    for (MPI_Comm& communicator : communicators) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    std::vector<std::thread> pool;
    for (int thread = 0; thread < threads; ++thread) {
        pool.emplace_back(scan_in_a_thread, thread, communicators[thread], user_sum, calls);
    }
    start = true;
    for (std::thread& thread : pool) thread.join();
    for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
    MPI_Op_free(&user_sum);

    int mine = failures;
    int total = 0;
    MPI_Reduce(&mine, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\n", total);
    MPI_Finalize();
    return mine == 0 ? 0 : 1;
}
