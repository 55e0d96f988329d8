// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan, their large-count forms, and the profiling names of all of them: Open MPI's Fortran layer
// calls PMPI_, and so do tools, beneath which Rondo stands.
#include <climits>

#include "rondo/interposer/serve.hpp"

#define RONDO_EXPORT extern "C" __attribute__((visibility("default")))
#define RONDO_CALLER __builtin_return_address(0)

namespace rondo::interposer {
namespace {

constexpr NativeCall native_scan = {[](const mpi::Library& library, const PrefixCall& call) {
    return library.Scan(call.input, call.output, static_cast<int>(call.count), call.datatype, call.op, call.comm);
}};

constexpr NativeCall native_exscan = {[](const mpi::Library& library, const PrefixCall& call) {
    return library.Exscan(call.input, call.output, static_cast<int>(call.count), call.datatype, call.op, call.comm);
}};

#ifdef RONDO_HAVE_LARGE_COUNT_API
// A library that is older than our headers lacks these; then the small form serves while the count fits.
constexpr NativeCall native_scan_c = {[](const mpi::Library& library, const PrefixCall& call) {
    if (library.Scan_c == nullptr) return call.count <= INT_MAX ? native_scan.function(library, call) : MPI_ERR_COUNT;
    return library.Scan_c(call.input, call.output, call.count, call.datatype, call.op, call.comm);
}};

constexpr NativeCall native_exscan_c = {[](const mpi::Library& library, const PrefixCall& call) {
    if (library.Exscan_c == nullptr) {
        return call.count <= INT_MAX ? native_exscan.function(library, call) : MPI_ERR_COUNT;
    }
    return library.Exscan_c(call.input, call.output, call.count, call.datatype, call.op, call.comm);
}};
#endif

std::size_t scan() {
    static const std::size_t index = index_of("scan");
    return index;
}

std::size_t exscan() {
    static const std::size_t index = index_of("exscan");
    return index;
}

/// The same function in a tool beneath Rondo, which must see the program's call; it comes back by the PMPI_ name.
template <class Function>
Function tool(const char* name, const void* caller) {
    if (native_library(caller) == nullptr) return nullptr;
    return reinterpret_cast<Function>(mpi::tool_definition(name));
}

}  // namespace
}  // namespace rondo::interposer

// The profiling name serves; the plain name serves unless a tool stands between.
#define RONDO_WRAP(Name, CountType, collective, native)                                                              \
    RONDO_EXPORT int PMPI_##Name(const void* input, void* output, CountType count, MPI_Datatype datatype, MPI_Op op, \
                                 MPI_Comm comm) {                                                                    \
        return rondo::interposer::serve(rondo::interposer::collective(), {input, output, count, datatype, op, comm}, \
                                        rondo::interposer::native, RONDO_CALLER);                                    \
    }                                                                                                                \
    RONDO_EXPORT int MPI_##Name(const void* input, void* output, CountType count, MPI_Datatype datatype, MPI_Op op,  \
                                MPI_Comm comm) {                                                                     \
        static const auto between = rondo::interposer::tool<decltype(&MPI_##Name)>("MPI_" #Name, RONDO_CALLER);      \
        if (between != nullptr) return between(input, output, count, datatype, op, comm);                            \
        return rondo::interposer::serve(rondo::interposer::collective(), {input, output, count, datatype, op, comm}, \
                                        rondo::interposer::native, RONDO_CALLER);                                    \
    }

RONDO_WRAP(Scan, int, scan, native_scan)
RONDO_WRAP(Exscan, int, exscan, native_exscan)
#ifdef RONDO_HAVE_LARGE_COUNT_API
RONDO_WRAP(Scan_c, MPI_Count, scan, native_scan_c)
RONDO_WRAP(Exscan_c, MPI_Count, exscan, native_exscan_c)
#endif
