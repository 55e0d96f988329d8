// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/library.hpp"

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace rondo::mpi {

Library detail::the_library;

namespace {

#if defined(RONDO_ABI_MPICH)
constexpr const char* library_names[] = {"libmpi.so.12", "libmpich.so.12"};
#elif defined(RONDO_ABI_OPENMPI)
constexpr const char* library_names[] = {"libmpi.so.40"};
#elif defined(RONDO_ABI_SIMGRID)
constexpr const char* library_names[] = {"libsimgrid.so"};
#else
constexpr const char* library_names[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"};
#endif

using detail::the_library;
void* source = nullptr;  // where the functions were found: a handle for dlsym
bool connected = false;

bool provides_mpi(void* handle) { return dlsym(handle, "PMPI_Comm_rank") != nullptr; }

/// The file that the object with this address was loaded from.
std::string_view object_of(const void* address) {
    Dl_info info;
    return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fname : "";
}

/// What all objects find that were there when the program started. Not RTLD_DEFAULT, which finds this library, too.
void* whole_program() {
    static void* const program = dlopen(nullptr, RTLD_LAZY);
    return program;
}

/// True if the program finds the MPI library there, and nothing that wraps PMPI_ functions before it: also not this
/// library, if it is the profiler.
bool finds_only_mpi(void* scope) {
    if (!provides_mpi(scope)) return false;
    const std::string_view found = object_of(dlsym(scope, "PMPI_Comm_rank"));
    return found == object_of(dlsym(scope, "PMPI_Init")) &&
           found != object_of(reinterpret_cast<const void*>(&finds_only_mpi));
}

/// Behind a library that librondo.so has loaded there is nothing: it stands after all others.
void* find_source(const void* caller) {
    if (provides_mpi(RTLD_NEXT)) return RTLD_NEXT;
    if (finds_only_mpi(whole_program())) return whole_program();
    Dl_info info;
    if (dladdr(caller, &info) != 0) {
        void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != nullptr && provides_mpi(handle)) return handle;
    }
    for (const char* name : library_names) {
        void* handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != nullptr && provides_mpi(handle)) return handle;
    }
    return nullptr;
}

template <class Function>
bool resolve(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(source, name));
    return function != nullptr;
}

/// The ABI of the library found, by a symbol or file name that only its libraries have.
std::string_view library_abi() {
    if (dlsym(source, "ompi_mpi_comm_world") != nullptr) return "openmpi";
    if (dlsym(source, "smpi_main") != nullptr) return "simgrid";
    const std::string_view object = object_of(dlsym(source, "PMPI_Comm_rank"));
    return object.find("libmpi_abi.") != std::string::npos ? "mpiabi" : "mpich";
}

}  // namespace

/// The address of a variable. The executable may hold the variable itself (copy relocation), which the library then
/// uses.
void* library_variable(const char* name) {
    void* variable = dlsym(RTLD_DEFAULT, name);
    return variable != nullptr ? variable : dlsym(source, name);
}

bool connect(const void* caller, const char*& missing) {
    if (connected) return true;
    missing = nullptr;
    source = find_source(caller);
    if (source == nullptr) {
        missing = "no MPI library is loaded";
        return false;
    }
    if (library_abi() != RONDO_ABI_NAME) {
        static const std::string text =
            "the program's MPI has the " + std::string(library_abi()) + " ABI, this is Rondo for " RONDO_ABI_NAME;
        missing = text.c_str();
        return false;
    }
#define RONDO_MPI_RESOLVE(name)                                      \
    if (!resolve(the_library.name, "PMPI_" #name)) {                 \
        missing = "the MPI library is too old: it lacks MPI_" #name; \
        return false;                                                \
    }
    RONDO_MPI_FUNCTIONS(RONDO_MPI_RESOLVE)
    RONDO_FUNCTIONS_BY_HAND(RONDO_MPI_RESOLVE)
    RONDO_SERVED_FUNCTIONS(RONDO_MPI_RESOLVE)
#undef RONDO_MPI_RESOLVE
#define RONDO_MPI_RESOLVE(name) resolve(the_library.name, "PMPI_" #name);
    RONDO_MPI_LARGE_COUNT_FUNCTIONS(RONDO_MPI_RESOLVE)
    RONDO_MPI_NUMBER_FUNCTIONS(RONDO_MPI_RESOLVE)
    RONDO_SERVED_OPTIONAL_FUNCTIONS(RONDO_MPI_RESOLVE)
#undef RONDO_MPI_RESOLVE
    connect_to(the_library);
    return true;
}

void connect_to(const Library& functions) {
    the_library = functions;
    the_library.comm_null = MPI_COMM_NULL;
    the_library.comm_self = MPI_COMM_SELF;
    the_library.comm_world = MPI_COMM_WORLD;
    the_library.byte = MPI_BYTE;
    the_library.datatype_null = MPI_DATATYPE_NULL;
    the_library.op_null = MPI_OP_NULL;
    the_library.request_null = MPI_REQUEST_NULL;
    the_library.info_null = MPI_INFO_NULL;
    the_library.errors_return = MPI_ERRORS_RETURN;
    the_library.errors_are_fatal = MPI_ERRORS_ARE_FATAL;
    connected = true;
}

void* definition_in_library(const char* name) { return source != nullptr ? dlsym(source, name) : nullptr; }

void* tool_definition(const char* name) {
    void* next = dlsym(RTLD_NEXT, name);
    if (next == nullptr) next = dlsym(whole_program(), name);
    const std::string_view own = object_of(reinterpret_cast<const void*>(&tool_definition));
    const std::string_view real = object_of(reinterpret_cast<const void*>(the_library.Comm_rank));
    const std::string_view found = object_of(next);
    return next == nullptr || found == real || found == own ? nullptr : next;
}

}  // namespace rondo::mpi
