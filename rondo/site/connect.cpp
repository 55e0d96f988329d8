// SPDX-License-Identifier: BSD-3-Clause
// Where calls go: to the library for the ABI of the MPI that the process has, or to that MPI itself.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "rondo/site/functions.hpp"
#include "rondo/site/object.hpp"

namespace rondo::site {

std::atomic<Function> targets[most_names];

namespace {

constexpr const char* any_function = "PMPI_Comm_rank";  // every MPI library has it

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // std::mutex may throw
bool decided = false;
void* rondo = nullptr;  // the library for the ABI; nullptr: MPI has all calls

/// What a caller finds under a name that this library has, too; nullptr if it finds nothing.
void* native(const char* name, const void* caller) {
    if (void* const found = dlsym(RTLD_DEFAULT, name)) return found;
    Dl_info info;
    if (dladdr(caller, &info) == 0) return nullptr;
    void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    return found;
}

/// The ABI of the library with this address; nullptr if Rondo does not know it.
const char* abi_of(const void* address) {
    const char* abi = nullptr;
    any_object([&](const Object& each) {
        if (!each.contains(address)) return false;
        const char* const name = each.name();
        if (each.defines(Name("ompi_mpi_comm_world")))
            abi = std::strstr(name, ".so.40") != nullptr ? "openmpi" : nullptr;
        else if (std::strncmp(name, "libmpi_abi.so", 13) == 0) abi = "mpiabi";
        else if (std::strstr(name, ".so.12") != nullptr) abi = "mpich";
        return true;
    });
    return abi;
}

/// Loads the library for an ABI that lies beside this one; nullptr if there is none.
void* load(const char* abi) {
    char path[4096];
    Dl_info here;
    if (dladdr(reinterpret_cast<const void*>(&load), &here) == 0) return nullptr;
    const char* const slash = std::strrchr(here.dli_fname, '/');
    const int folder = slash != nullptr ? static_cast<int>(slash + 1 - here.dli_fname) : 0;
    const int length = std::snprintf(path, sizeof path, "%.*slibrondo_%s.so", folder, here.dli_fname, abi);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return nullptr;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr && access(path, F_OK) == 0)
        std::fprintf(stderr, "rondo: %s; calls go to the MPI library\n", dlerror());
    return library;
}

/// Fails as if there were no MPI, which there is not: a program has called a function that it found in no library.
int missing() { return 1; }

Function function_for(const char* name, const void* caller) {
    void* found = rondo != nullptr ? dlsym(rondo, name) : nullptr;
    if (found == nullptr) found = native(name, caller);
    return reinterpret_cast<Function>(found);
}

/// Decides, at the first call that finds an MPI library, where all calls go.
void decide(const void* caller) {
    const void* const mpi = native(any_function, caller);
    if (decided || mpi == nullptr) return;
    decided = true;
    const char* const abi = abi_of(mpi);
    rondo = abi != nullptr ? load(abi) : nullptr;
    for (std::size_t i = 0; i < number_of_names; ++i)
        targets[i].store(function_for(names[i], caller), std::memory_order_release);
    dlerror();  // whatever failed here is nothing to the program
}

}  // namespace

Function find_target(std::size_t function, const void* caller) {
    pthread_mutex_lock(&mutex);
    decide(caller);
    pthread_mutex_unlock(&mutex);
    const Function known = targets[function].load(std::memory_order_acquire);
    const Function found = known != nullptr ? known : function_for(names[function], caller);
    return found != nullptr ? found : reinterpret_cast<Function>(&missing);
}

void* of_rondo(const char* name) {
    pthread_mutex_lock(&mutex);
    void* const library = rondo;
    pthread_mutex_unlock(&mutex);
    return library != nullptr ? dlsym(library, name) : nullptr;
}

}  // namespace rondo::site
