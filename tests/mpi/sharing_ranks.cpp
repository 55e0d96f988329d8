// SPDX-License-Identifier: BSD-3-Clause
// What programs do while their ranks share memory: the first word says what. Prints "failures N" on rank 0.
//
//   spawn        a child for each rank; calls among the children, among all, and between the two groups
//   fork         children of fork, which look at the parent's memory, between calls
//   stack        calls from a stack that the program has made
//   huge N       N mebibytes at a time
//   memory N     calls of all lengths up to N bytes; tells the memory that is taken for sharing, in KiB
//   descriptors  calls when no descriptor is left
#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

int failures = 0;
char* program;

void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "wrong: %s\n", what);
}

/// An allreduce, a broadcast and an exscan of so many longs with known results.
void call_on(MPI_Comm communicator, int count) {
    int rank = 0, size = 0;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    std::vector<long> input(static_cast<std::size_t>(count)), output(input.size());
    std::iota(input.begin(), input.end(), rank);
    MPI_Allreduce(input.data(), output.data(), count, MPI_LONG, MPI_SUM, communicator);
    const long ranks = static_cast<long>(size) * (size - 1) / 2;
    for (long i = 0; i < count; ++i) expect(output[static_cast<std::size_t>(i)] == size * i + ranks, "allreduce");
    MPI_Exscan(input.data(), output.data(), count, MPI_LONG, MPI_SUM, communicator);
    const long before = static_cast<long>(rank) * (rank - 1) / 2;
    for (long i = 0; i < count && rank > 0; ++i)
        expect(output[static_cast<std::size_t>(i)] == rank * i + before, "exscan");
    if (rank != size - 1) std::fill(input.begin(), input.end(), -1);
    MPI_Bcast(input.data(), count, MPI_LONG, size - 1, communicator);
    for (long i = 0; i < count; ++i) expect(input[static_cast<std::size_t>(i)] == size - 1 + i, "bcast");
}

void call_all() {
    for (const int count : {1, 100, 5000, 100000}) call_on(MPI_COMM_WORLD, count);
}

void call_with_children(MPI_Comm between) {
    MPI_Comm all;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    const bool is_child = parent != MPI_COMM_NULL;
    MPI_Intercomm_merge(between, is_child ? 1 : 0, &all);
    call_all();
    for (const int count : {1, 100000}) call_on(all, count);
    long mine = is_child ? 1 : 10, theirs = 0;
    int others = 0;
    MPI_Comm_remote_size(between, &others);
    MPI_Allreduce(&mine, &theirs, 1, MPI_LONG, MPI_SUM, between);
    expect(theirs == others * (is_child ? 10 : 1), "allreduce between groups");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    call_all();
}

void spawn() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm children;
    char word[] = "child";
    char* arguments[] = {word, nullptr};
    MPI_Comm_spawn(program, arguments, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    call_with_children(children);
}

void be_child() {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    call_with_children(parent);
}

/// What the process has mapped for sharing: bytes of pages that exist for it.
long resident_kibibytes(const char* what) {
    std::ifstream maps("/proc/self/smaps");
    bool is_region = false;
    long kibibytes = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.find('-') < line.find(' ') && line.find(':') > line.find(' ')) {
            is_region = line.find("/memfd:rondo") != std::string::npos;
        } else if (is_region && line.rfind(what, 0) == 0) {
            kibibytes += std::strtol(line.c_str() + std::strlen(what), nullptr, 10);
        }
    }
    return kibibytes;
}

void fork_children() {
    for (int i = 0; i < 5; ++i) {
        call_all();
        const pid_t child = fork();
        if (child == 0) std::exit(resident_kibibytes("Rss:") == 0 ? 0 : 1);  // with the destructors of the program
        call_all();
        int status = 0;
        waitpid(child, &status, 0);
        expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child");
        expect(std::system("true") == 0, "system");
    }
}

ucontext_t outside, inside;

void call_from_stack() {
    constexpr std::size_t bytes = std::size_t{256} << 10;
    std::vector<char> stack(bytes);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack.data();
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, call_all, 0);
    swapcontext(&outside, &inside);
}

/// A vector of so many mebibytes, more than 2^31 bytes perhaps: its elements are of one.
void call_huge(int mebibytes) {
    constexpr std::size_t words = (std::size_t{1} << 20) / sizeof(int);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype mebibyte;
    MPI_Type_contiguous(static_cast<int>(words), MPI_INT, &mebibyte);
    MPI_Type_commit(&mebibyte);
    std::vector<int> data(words * static_cast<std::size_t>(mebibytes));
    for (std::size_t i = 0; i < data.size(); i += 509) data[i] = rank == 0 ? static_cast<int>(i) : -1;
    MPI_Bcast(data.data(), mebibytes, mebibyte, 0, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < data.size(); i += 509) expect(data[i] == static_cast<int>(i), "huge bcast");
    std::fill(data.begin(), data.end(), 1);
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(std::all_of(data.begin(), data.end(), [&](int each) { return each == size; }), "huge allreduce");
    MPI_Type_free(&mebibyte);
}

void measure_memory(int most_bytes) {
    const long longest = most_bytes / static_cast<long>(sizeof(long));
    for (int call = 0; call < 3; ++call) {
        for (long count = 1; count <= longest; count *= 4) call_on(MPI_COMM_WORLD, static_cast<int>(count));
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    long own = resident_kibibytes("Pss:"), largest = 0, sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&own, &largest, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    long resident = resident_kibibytes("Rss:"), most_resident = 0;
    MPI_Reduce(&resident, &most_resident, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("share %ld resident %ld sum %ld\n", largest, most_resident, sum);
}

void call_without_descriptors() {
    call_on(MPI_COMM_WORLD, 1);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{0, before.rlim_max};
    expect(setrlimit(RLIMIT_NOFILE, &none) == 0, "limit");
    call_all();
    setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    const std::string what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? std::atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    call_all();
    if (what == "spawn") spawn();
    else if (what == "child") be_child();
    else if (what == "fork") fork_children();
    else if (what == "stack") call_from_stack();
    else if (what == "huge") call_huge(number);
    else if (what == "memory") measure_memory(number);
    else if (what == "descriptors") call_without_descriptors();
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("failures %d\n", all);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
