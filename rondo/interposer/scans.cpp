// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan and their large-count forms, from machine words to a call that can be served.
#include <bit>
#include <climits>
#include <type_traits>

#include "rondo/interposer/exports.hpp"
#include "rondo/interposer/serve.hpp"

namespace rondo::interposer {
namespace {

int native_scan(const mpi::Library& library, const PrefixCall& call) {
    return library.Scan(call.input, call.output, static_cast<int>(call.count), call.datatype, call.op, call.comm);
}

int native_exscan(const mpi::Library& library, const PrefixCall& call) {
    return library.Exscan(call.input, call.output, static_cast<int>(call.count), call.datatype, call.op, call.comm);
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
// A library that is older than our headers lacks these; then the small form serves while the count fits.
int native_scan_c(const mpi::Library& library, const PrefixCall& call) {
    if (library.Scan_c == nullptr) return call.count <= INT_MAX ? native_scan(library, call) : MPI_ERR_COUNT;
    return library.Scan_c(call.input, call.output, call.count, call.datatype, call.op, call.comm);
}

int native_exscan_c(const mpi::Library& library, const PrefixCall& call) {
    if (library.Exscan_c == nullptr) return call.count <= INT_MAX ? native_exscan(library, call) : MPI_ERR_COUNT;
    return library.Exscan_c(call.input, call.output, call.count, call.datatype, call.op, call.comm);
}
#endif

template <class Handle>
Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) return std::bit_cast<Handle>(word);
    else return static_cast<Handle>(word);
}

/// `CountType`: what the function's count is; the upper half of a word that holds an int means nothing.
template <class CountType>
PrefixCall call_of(const PrefixArguments& words) {
    return {std::bit_cast<const void*>(words.input),
            std::bit_cast<void*>(words.output),
            static_cast<CountType>(words.count),
            handle<MPI_Datatype>(words.datatype),
            handle<MPI_Op>(words.op),
            handle<MPI_Comm>(words.comm)};
}

}  // namespace

int scan(const PrefixArguments& words, const void* caller) {
    static const Wrapped function{index_of("scan"), true, native_scan};
    return serve(function, call_of<int>(words), caller);
}

int exscan(const PrefixArguments& words, const void* caller) {
    static const Wrapped function{index_of("exscan"), false, native_exscan};
    return serve(function, call_of<int>(words), caller);
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
int scan_c(const PrefixArguments& words, const void* caller) {
    static const Wrapped function{index_of("scan"), true, native_scan_c};
    return serve(function, call_of<MPI_Count>(words), caller);
}

int exscan_c(const PrefixArguments& words, const void* caller) {
    static const Wrapped function{index_of("exscan"), false, native_exscan_c};
    return serve(function, call_of<MPI_Count>(words), caller);
}
#endif

void* detour(const char* name, const void* caller) {
    if (native_library(caller) == nullptr) return mpi::foreign_definition(name);
    return name[0] == 'P' ? nullptr : mpi::tool_definition(name);
}

}  // namespace rondo::interposer
