// SPDX-License-Identifier: BSD-3-Clause
#include "choice.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <numeric>
#include <vector>

#ifdef RONDO_ABI_SIMGRID
#include "rondo.h"  // linked in: SimGrid's ranks share a process, and preload nothing
#endif

namespace rondo::bench {
namespace {

// As include/rondo.h has them.
using Choose = int (*)(const char* collective, const char* choice, char* message, int size);
using LeftToLibrary = long long (*)(const char* collective, char* message, int size);
using SharesMemory = int (*)();
using Domains = int (*)(const int* ranks, int size);

constexpr int message_size = 512;

#ifdef RONDO_ABI_SIMGRID
Choose find_choose() { return rondo_choose; }
Function find_program_function(const char*) { return nullptr; }  // names do not say whose function it is
LeftToLibrary find_left_to_library() { return rondo_left_to_library; }
SharesMemory find_shares_memory() { return rondo_shares_memory; }
Domains find_domains() { return rondo_domains; }
#else
Function find_program_function(const char* name) { return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name)); }
Choose find_choose() { return reinterpret_cast<Choose>(dlsym(RTLD_DEFAULT, "rondo_choose")); }
LeftToLibrary find_left_to_library() {
    return reinterpret_cast<LeftToLibrary>(dlsym(RTLD_DEFAULT, "rondo_left_to_library"));
}
SharesMemory find_shares_memory() { return reinterpret_cast<SharesMemory>(dlsym(RTLD_DEFAULT, "rondo_shares_memory")); }
Domains find_domains() { return reinterpret_cast<Domains>(dlsym(RTLD_DEFAULT, "rondo_domains")); }
#endif

}  // namespace

Function library_function(const char* name) {
    Dl_info library;
    if (dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &library) != 0) {
        if (void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
            return reinterpret_cast<Function>(dlsym(handle, name));
        }
    }
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Function program_function(const char* name) { return find_program_function(name); }

std::string choose(const char* collective, const std::string& algorithm) {
    const Choose function = find_choose();
    if (function == nullptr) return "Rondo's preload library is not in this process";
    char message[message_size] = "";
    return function(collective, algorithm.c_str(), message, message_size) == 0 ? "" : message;
}

bool shares_memory() {
    const SharesMemory function = find_shares_memory();
    return function != nullptr && function() != 0;
}

int domains(MPI_Comm comm) {
    const Domains function = find_domains();
    if (function == nullptr) return 1;
    int size = 0;
    MPI_Comm_size(comm, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size)), of_world(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Group group, world;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, size, ranks.data(), world, of_world.data());
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return function(of_world.data(), size);
}

std::int64_t left_to_library(const char* collective, std::string& reason) {
    const LeftToLibrary function = find_left_to_library();
    if (function == nullptr) return 0;
    char message[message_size] = "";
    const std::int64_t calls = function(collective, message, message_size);
    reason = message;
    return calls;
}

}  // namespace rondo::bench
