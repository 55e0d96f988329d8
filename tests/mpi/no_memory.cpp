// SPDX-License-Identifier: BSD-3-Clause
// Rondo gets no memory on one rank during a call; the other ranks cannot know. Prints, for each rank, what the call
// returned and whether the result is right, then the same of the next call, for which there is memory.
//
//   no_memory CASE...
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "print_by_rank.hpp"

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

constexpr int ranks = 2;
constexpr int odd_one = 1;  // rank 0 needs nothing of it but in calls that the library carries out

int rank = 0;
bool refusing = false;

bool in_rondo(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 && std::strstr(info.dli_fname, "librondo_") != nullptr;
}

}  // namespace

/// Before that of the C library.
extern "C" void* malloc(std::size_t bytes) {
    if (refusing && in_rondo(__builtin_return_address(0))) return nullptr;
    return __libc_malloc(bytes);
}

namespace {

struct Case {
    std::function<int(MPI_Comm)> call;
    std::function<bool()> is_right;
};

long own = 0;
long result = 0;
long all[ranks] = {};
MPI_Op takes_the_right;

void take_the_right(void*, void*, int*, MPI_Datatype*) {}

bool shared_right() { return all[0] == 1; }

const std::map<std::string, Case> cases = {
    {"served, for ranks on a node",
     {[](MPI_Comm comm) {
          result = rank == 0 ? 7 : 0;
          return MPI_Bcast(&result, 1, MPI_LONG, 0, comm);
      },
      [] { return result == 7; }}},
    {"served, to parts",
     {[](MPI_Comm comm) {
          const int counts[ranks] = {0, 1};
          return MPI_Reduce_scatter(&own, &result, counts, MPI_LONG, MPI_SUM, comm);
      },
      [] { return rank == 0 || result == 3; }}},
    {"served, from parts",
     {[](MPI_Comm comm) {
          const int counts[ranks] = {1, 0}, displacements[ranks] = {0, 1};
          return MPI_Allgatherv(&own, rank == 0 ? 1 : 0, MPI_LONG, all, counts, displacements, MPI_LONG, comm);
      },
      shared_right}},
    {"served, parts of each for each",
     {[](MPI_Comm comm) {
          const int none[ranks] = {}, mine[ranks] = {0, rank == 0 ? 1 : 0}, yours[ranks] = {rank == 1 ? 1 : 0, 0};
          return MPI_Alltoallv(&own, mine, none, MPI_LONG, all, yours, none, MPI_LONG, comm);
      },
      [] { return rank == 0 || all[0] == 1; }}},
    {"served, parts of types of their own",
     {[](MPI_Comm comm) {
          const int none[ranks] = {}, mine[ranks] = {0, rank == 0 ? 1 : 0}, yours[ranks] = {rank == 1 ? 1 : 0, 0};
          const MPI_Datatype types[ranks] = {MPI_LONG, MPI_LONG};
          return MPI_Alltoallw(&own, mine, none, types, all, yours, none, types, comm);
      },
      [] { return rank == 0 || all[0] == 1; }}},
    {"left to the library",
     {[](MPI_Comm comm) { return MPI_Allreduce(&own, &result, 1, MPI_LONG, MPI_SUM, comm); },
      [] { return result == 3; }}},
    {"refused by the algorithm",
     {[](MPI_Comm comm) { return MPI_Reduce(&own, &result, 1, MPI_LONG, takes_the_right, 0, comm); },
      [] { return rank != 0 || result == 2; }}},
};

std::string said;

void attempt(const std::string& what, const Case& subject, MPI_Comm comm, bool has_memory) {
    result = 0;
    for (long& each : all) each = 0;
    refusing = !has_memory && rank == odd_one;
    const int code = subject.call(comm);
    refusing = false;
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    said += "rank " + std::to_string(rank) + ", " + what + ": ";
    if (code == MPI_SUCCESS) said += subject.is_right() ? "right\n" : "wrong\n";
    else said += error_class == MPI_ERR_NO_MEM ? "no memory\n" : "error class " + std::to_string(error_class) + "\n";
}

/// Rondo sees the communicator, and has nothing to decide.
void call_for_nothing(MPI_Comm comm) {
    const int nothing[ranks] = {};
    MPI_Allgatherv(&own, 0, MPI_LONG, all, nothing, nothing, MPI_LONG, comm);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size != ranks) MPI_Abort(MPI_COMM_WORLD, 2);
    own = rank + 1;
    MPI_Op_create(take_the_right, 0, &takes_the_right);
    for (int index = 1; index < argc; ++index) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        call_for_nothing(comm);
        attempt(argv[index], cases.at(argv[index]), comm, false);
        attempt(std::string(argv[index]) + ", with memory", cases.at(argv[index]), comm, true);
        // Not freed, so that what is left of it reaches no other.
    }
    print_by_rank(said);
    MPI_Finalize();
    return 0;
}
