// SPDX-License-Identifier: BSD-3-Clause
// Two threads that count without a lock, in an MPI program: what the thread sanitizer must find.
#include <mpi.h>

#include <thread>

namespace {

long counter = 0;

void count() {
    for (int i = 0; i < 1000; ++i) ++counter;
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    long before = 0;
    std::thread other(count);
    count();
    other.join();
    MPI_Exscan(&counter, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
