// SPDX-License-Identifier: BSD-3-Clause
// Threads that call collectives at the same time, each on its own communicator: each round a scan or an exscan, then a
// reduction to some root, which broadcasts the result. Argument: rounds per thread.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int shortest = 8;
constexpr int longest = 300;

std::atomic<int> failures{0};
std::atomic<bool> start{false};
MPI_Datatype gapped_long;

void add_function(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
    for (int index = 0; index < *count; ++index) static_cast<long*>(right)[index] += static_cast<long*>(left)[index];
}

/// By a datatype that has to be packed: every number is followed by a gap.
void reduce_and_broadcast(int root, int count, std::vector<long>& input, std::vector<long>& output,
                          MPI_Comm communicator, MPI_Op op) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    output.assign(longest, -1);
    MPI_Reduce(input.data(), rank == root ? output.data() : nullptr, count, MPI_LONG, op, root, communicator);
    std::vector<long> gapped(2 * longest);
    for (int index = 0; index < count; ++index) gapped[2 * index] = output[index];
    MPI_Bcast(gapped.data(), count, gapped_long, root, communicator);
    for (int index = 0; index < count; ++index) output[index] = gapped[2 * index];
}

void call_in_a_thread(int thread, MPI_Comm communicator, MPI_Op user_sum, int calls) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &ranks);
    std::vector<long> input(longest);
    std::vector<long> output(longest);
    // Together: the very first calls shall meet.
    while (!start) std::this_thread::yield();
    for (int call = 0; call < calls; ++call) {
        const int count = shortest + (call * 37 + thread * 11) % (longest - shortest + 1);
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
        reduce_and_broadcast(call % ranks, count, input, output, communicator, op);
        const long sum_of_ranks = static_cast<long>(ranks) * (ranks - 1) / 2;
        for (int index = 0; index < count; ++index) {
            if (output[index] != ranks * (1000L * thread + index + call) + sum_of_ranks) ++failures;
        }
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
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &gapped_long);
    MPI_Type_commit(&gapped_long);
    std::vector<MPI_Comm> communicators(threads);
    for (MPI_Comm& communicator : communicators) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    std::vector<std::thread> pool;
    for (int thread = 0; thread < threads; ++thread) {
        pool.emplace_back(call_in_a_thread, thread, communicators[thread], user_sum, calls);
    }
    start = true;
    for (std::thread& thread : pool) thread.join();
    for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
    MPI_Type_free(&gapped_long);
    MPI_Op_free(&user_sum);

    long mine = failures;
    long total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %ld\n", total);
    MPI_Finalize();
    return mine == 0 ? 0 : 1;
}
