// SPDX-License-Identifier: BSD-3-Clause
// Random programs, one after the other: blocking, nonblocking and persistent collectives on the world and on another
// communicator, many of them under way at a time, messages between them, and requests that each rank completes in an
// order and by functions of its own choice. Arguments: the first seed, how many programs, and words: "native" if calls
// may be the library's own, which do not survive all that MPI allows; "no-persistent" for no persistent collectives;
// "trace" to have each rank say what it does.
// Says of each wrong result in which program and step it was, and of a program that does not end where that is. Prints
// how many results were wrong, and how many calls there were.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "random_completion.hpp"
#include "watchdog.hpp"

int main(int argc, char** argv) {
    using namespace random_programs;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int first = std::atoi(argv[1]), programs = std::atoi(argv[2]);
    Options options;
    Log log;
    for (int i = 3; i < argc; ++i) {
        const std::string word = argv[i];
        options.native |= word == "native";
        log.traces |= word == "trace";
        options.persistent &= word != "no-persistent";
    }
    Watchdog watchdog(log);
    for (int seed = first; seed < first + programs; ++seed) {
        log.program = seed;
        Program(seed, rank, options, log).run();
    }
    int all = 0;
    MPI_Reduce(&log.failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\ncalls %ld\n", all, log.calls);
    MPI_Finalize();
    return log.failures != 0 ? 1 : 0;
}
