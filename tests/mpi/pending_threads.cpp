// SPDX-License-Identifier: BSD-3-Clause
// Threads that begin nonblocking collectives and start persistent ones at the same time, each on its own communicator.
// In some rounds another thread completes what one has begun. Argument: rounds per thread.
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int most = 20000;

std::atomic<int> failures{0};

struct Pair {
    double value;
    int place;
};

void expect(bool is_right) {
    if (!is_right) ++failures;
}

/// What a thread has under way on its communicator.
struct Calls {
    MPI_Comm comm{};
    int rank = 0, ranks = 0;
    MPI_Datatype gapped{};
    MPI_Request repeated{};  // a persistent one
    std::vector<long> input = std::vector<long>(most), sums = std::vector<long>(most),
                      copies = std::vector<long>(2 * most);
    std::vector<Pair> pairs = std::vector<Pair>(most), greatest = std::vector<Pair>(most);
    long mine = 0, all = 0;
    int round = 0, count = 0;
    std::array<MPI_Request, 5> requests{};
    std::atomic<bool> are_begun{false}, are_over{false};
};

void set_up(Calls& calls, MPI_Datatype gapped) {
    MPI_Comm_dup(MPI_COMM_WORLD, &calls.comm);
    MPI_Comm_rank(calls.comm, &calls.rank);
    MPI_Comm_size(calls.comm, &calls.ranks);
    calls.gapped = gapped;
    MPI_Barrier(calls.comm);  // a way for messages
    MPI_Allreduce_init(&calls.mine, &calls.all, 1, MPI_LONG, MPI_SUM, calls.comm, MPI_INFO_NULL, &calls.repeated);
}

void begin(Calls& calls, int round) {
    calls.round = round;
    calls.count = round % 10 == 0 ? most : 1 + round * 37 % 200;
    for (int i = 0; i < calls.count; ++i) {
        calls.input[i] = calls.rank + i + round;
        calls.pairs[i] = {static_cast<double>((i + calls.rank) % calls.ranks), calls.rank};
        calls.copies[2 * i] = calls.rank == round % calls.ranks ? round + i : -1;
    }
    calls.mine = calls.rank + round;
    MPI_Iallreduce(calls.input.data(), calls.sums.data(), calls.count, MPI_LONG, MPI_SUM, calls.comm,
                   &calls.requests[0]);
    MPI_Ibcast(calls.copies.data(), calls.count, calls.gapped, round % calls.ranks, calls.comm, &calls.requests[1]);
    MPI_Iallreduce(calls.pairs.data(), calls.greatest.data(), calls.count, MPI_DOUBLE_INT, MPI_MAXLOC, calls.comm,
                   &calls.requests[2]);
    MPI_Ibarrier(calls.comm, &calls.requests[3]);
    MPI_Start(&calls.repeated);
    calls.requests[4] = calls.repeated;
}

void complete(Calls& calls) {
    auto& requests = calls.requests;
    const auto number = static_cast<int>(requests.size());
    switch (calls.round % 4) {
        case 0: MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE); break;
        case 1:
            for (MPI_Request& each : requests) MPI_Wait(&each, MPI_STATUS_IGNORE);
            break;
        case 2:
            for (int flag = 0; flag == 0;) MPI_Testall(number, requests.data(), &flag, MPI_STATUSES_IGNORE);
            break;
        default:
            for (int index = 0; index != MPI_UNDEFINED;)
                MPI_Waitany(number, requests.data(), &index, MPI_STATUS_IGNORE);
    }
    const long sum = static_cast<long>(calls.ranks) * (calls.ranks - 1) / 2;
    for (int i = 0; i < calls.count; ++i) {
        expect(calls.sums[i] == sum + calls.ranks * (static_cast<long>(i) + calls.round));
        expect(calls.copies[2 * i] == calls.round + i);
        expect(calls.greatest[i].value == calls.ranks - 1);
    }
    expect(calls.all == sum + static_cast<long>(calls.ranks) * calls.round);
}

void wait_for(std::atomic<bool>& flag) {
    while (!flag.exchange(false)) std::this_thread::yield();
}

/// In odd rounds the next thread completes what this one has begun.
void call_in_a_thread(std::vector<Calls>& all, int thread, int rounds) {
    Calls& own = all[thread];
    Calls& other = all[(thread + threads - 1) % threads];
    for (int round = 0; round < rounds; ++round) {
        begin(own, round);
        if (round % 2 == 0) {
            complete(own);
            continue;
        }
        own.are_begun = true;
        wait_for(other.are_begun);
        complete(other);
        other.are_over = true;
        wait_for(own.are_over);
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::printf("MPI_THREAD_MULTIPLE is not provided\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Datatype gapped;
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &gapped);
    MPI_Type_commit(&gapped);
    std::vector<Calls> all(threads);
    for (Calls& each : all) set_up(each, gapped);
    std::vector<std::thread> pool;
    for (int thread = 0; thread < threads; ++thread)
        pool.emplace_back([&all, thread, rounds = std::atoi(argv[1])] { call_in_a_thread(all, thread, rounds); });
    for (std::thread& each : pool) each.join();
    for (Calls& each : all) {
        MPI_Request_free(&each.repeated);
        MPI_Comm_free(&each.comm);
    }
    MPI_Type_free(&gapped);
    int mine = failures, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\n", total);
    MPI_Finalize();
    return mine == 0 ? 0 : 1;
}
