// SPDX-License-Identifier: BSD-3-Clause
// Programs that live on communicators. Prints the same natively and under Rondo, memory apart.
//
//   many_communicators churn N      N communicators, one after the other: created, used, freed
//   many_communicators alive N      N communicators at a time
//   many_communicators exhausted N  up to N communicators at a time, or as many as the library has, before the first
//   many_communicators fleeting N   N communicators of all sizes, one after the other; how many calls went to the
//   library scan many_communicators attributes   how often the user's attribute callbacks are called, up to the end of
//   MPI
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int failures = 0;

/// An exscan, a scan, a reduction and a broadcast with known results.
void call_on(MPI_Comm communicator) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    const long input[3] = {rank + 1L, 1, 2};
    long before[3] = {-1, -1, -1};
    long including[3] = {};
    const int error = MPI_Exscan(input, before, 3, MPI_LONG, MPI_SUM, communicator) +
                      MPI_Scan(input, including, 3, MPI_LONG, MPI_SUM, communicator);
    const long expected = static_cast<long>(rank) * (rank + 1) / 2;
    if (error != MPI_SUCCESS || including[0] != expected + rank + 1 || including[2] != 2 * (rank + 1)) ++failures;
    if (rank > 0 && (before[0] != expected || before[1] != rank)) ++failures;
    int size = 0;
    MPI_Comm_size(communicator, &size);
    long sum[3] = {};
    const int errors = MPI_Reduce(input, rank == 0 ? sum : nullptr, 3, MPI_LONG, MPI_SUM, 0, communicator) +
                       MPI_Bcast(sum, 3, MPI_LONG, 0, communicator);
    if (errors != MPI_SUCCESS || sum[0] != static_cast<long>(size) * (size + 1) / 2 || sum[1] != size) ++failures;
}

long resident_kibibytes() {
    long pages[2] = {};
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) pages[1] = 0;
        std::fclose(file);
    }
    return pages[1] * (sysconf(_SC_PAGESIZE) / 1024);
}

MPI_Comm make(int index) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm communicator = MPI_COMM_NULL;
    if (index % 2 == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &communicator);
    }
    return communicator;
}

void churn(int count) {
    constexpr int warm_up = 1000;
    long before = 0;
    for (int index = 0; index < count; ++index) {
        if (index == warm_up) before = resident_kibibytes();
        MPI_Comm communicator = make(index);
        call_on(communicator);
        MPI_Comm_free(&communicator);
    }
    long growth = resident_kibibytes() - before;
    long largest = 0;
    MPI_Reduce(&growth, &largest, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("growth %ld\n", largest);
}

void alive(int count) {
    std::vector<MPI_Comm> communicators;
    for (int index = 0; index < count; ++index) {
        communicators.push_back(make(index));
        call_on(communicators.back());
    }
    for (MPI_Comm& communicator : communicators) call_on(communicator);
    // Once there is room again, new ones work as the first ones did.
    for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
    for (int index = 0; index < 10; ++index) {
        MPI_Comm communicator = make(index);
        call_on(communicator);
        MPI_Comm_free(&communicator);
    }
}

int errors_handled = 0;

// NOLINTNEXTLINE(cert-dcl50-cpp)
void count_error(MPI_Comm* /*communicator*/, int* /*code*/, ...) { ++errors_handled; }

void exhaust(int limit) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<MPI_Comm> communicators;
    while (static_cast<int>(communicators.size()) < limit) {
        MPI_Comm communicator;
        if (MPI_Comm_dup(MPI_COMM_WORLD, &communicator) != MPI_SUCCESS) break;
        MPI_Comm_set_errhandler(communicator, handler);
        communicators.push_back(communicator);
    }
    for (int index = 0; index < 10; ++index) call_on(communicators[index]);
    call_on(MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("made %zu, errors %d\n", communicators.size(), errors_handled);
    for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
    call_on(make(0));
    MPI_Errhandler_free(&handler);
}

/// Scans of one element and of a thousand, on communicators of one rank, of two and of all, whose handles come again.
/// Prints how many of them went to the library since the last choice, which is for none.
void fleeting(int count) {
    const auto choose =
        reinterpret_cast<int (*)(const char*, const char*, char*, int)>(dlsym(RTLD_DEFAULT, "rondo_choose"));
    const auto left =
        reinterpret_cast<long long (*)(const char*, char*, int)>(dlsym(RTLD_DEFAULT, "rondo_left_to_library"));
    if (choose == nullptr || left == nullptr) return;
    char message[256] = "";
    choose("scan", "", message, sizeof message);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<int> input(1000), output(1000);
    const auto scan = [&](MPI_Comm communicator, int length) {
        int own = 0;
        MPI_Comm_rank(communicator, &own);
        for (int index = 0; index < length; ++index) input[index] = own + 1;
        MPI_Scan(input.data(), output.data(), length, MPI_INT, MPI_SUM, communicator);
        for (int index = 0; index < length; ++index) failures += output[index] != (own + 1) * (own + 2) / 2 ? 1 : 0;
    };
    for (int index = 0; index < count; ++index) {
        const int ranks = 1 + index % 3;
        MPI_Comm communicator;
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : 1, rank, &communicator);
        for (int call = 0; call < 1 + index % 5; ++call) scan(communicator, (index + call) % 4 == 3 ? 1000 : 1);
        MPI_Comm_free(&communicator);
        scan(MPI_COMM_WORLD, index % 7 == 0 ? 1000 : 1);
    }
    std::printf("rank %d: %lld of %d left\n", rank, left("scan", message, sizeof message), count);
    std::fflush(stdout);
}

int copies = 0;
int deletions = 0;

int count_copy(MPI_Comm /*old*/, int /*key*/, void* /*extra*/, void* value, void* copy, int* flag) {
    ++copies;
    *static_cast<void**>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int count_deletion(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    ++deletions;
    return MPI_SUCCESS;
}

/// MPI is still there while MPI_Finalize deletes the attributes of MPI_COMM_SELF.
int scan_for_the_last_time(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    call_on(MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("finalize: failures %d\n", failures);
    return MPI_SUCCESS;
}

void attributes() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto report = [rank](const char* when) {
        if (rank == 0) std::printf("%s: %d copies, %d deletions\n", when, copies, deletions);
    };
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(count_copy, count_deletion, &key, nullptr);
    int last_key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, scan_for_the_last_time, &last_key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, last_key, nullptr);

    MPI_Comm communicator;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    MPI_Comm_set_attr(communicator, key, &key);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    call_on(communicator);
    call_on(MPI_COMM_WORLD);
    report("after scans");
    MPI_Comm copy;
    MPI_Comm_dup(communicator, &copy);
    report("after a duplication");
    call_on(copy);
    call_on(communicator);
    report("after more scans");
    MPI_Comm_free(&copy);
    call_on(communicator);
    report("after freeing the duplicate");
    MPI_Comm_free(&communicator);
    report("after freeing the original");
    // Two attributes on MPI_COMM_SELF, one set before Rondo can have set its own, one after.
    int later_key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, scan_for_the_last_time, &later_key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, later_key, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string mode = argc > 1 ? argv[1] : "churn";
    const int count = argc > 2 ? std::atoi(argv[2]) : 10000;
    if (mode == "churn") churn(count);
    if (mode == "alive") alive(count);
    if (mode == "exhausted") exhaust(count);
    if (mode == "fleeting") fleeting(count);
    if (mode == "attributes") attributes();
    int total = 0;
    MPI_Reduce(&failures, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("failures %d\n", total);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
