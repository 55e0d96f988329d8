// SPDX-License-Identifier: BSD-3-Clause
// The functions that are wrapped, from machine words to a call that can be served, and back to the library.
#include <bit>
#include <climits>
#include <type_traits>

#include "rondo/interposer/exports.hpp"
#include "rondo/interposer/serve.hpp"

namespace rondo::interposer {
namespace {

template <class Handle>
Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) return std::bit_cast<Handle>(word);
    else return static_cast<Handle>(word);
}

/// `CountType`: what the function's count is; the upper half of a word that holds an int means nothing.
template <class CountType>
UserCall call_of(const Words& words) {
    return {std::bit_cast<const void*>(words.input),
            std::bit_cast<void*>(words.output),
            static_cast<CountType>(words.count),
            handle<MPI_Datatype>(words.datatype),
            handle<MPI_Op>(words.op),
            static_cast<Rank>(words.root),
            handle<MPI_Comm>(words.comm)};
}

}  // namespace

// name and collective; where the output is; the arguments of the library's own function, which `call` and `count` hold.
#define RONDO_WRAP_SMALL(name, collective, output, ...)                                 \
    static int native_##collective(const mpi::Library& library, const UserCall& call) { \
        const auto count = static_cast<int>(call.count);                                \
        return library.name(__VA_ARGS__);                                               \
    }                                                                                   \
    int collective(const Words& arguments, const void* caller) {                        \
        static const Wrapped function(#collective, output, native_##collective);        \
        return serve(function, call_of<int>(arguments), caller);                        \
    }

#ifdef RONDO_HAVE_LARGE_COUNT_API
// A library that is older than our headers lacks the large-count form; then the small one serves while the count fits.
#define RONDO_WRAP(name, collective, output, ...)                                           \
    RONDO_WRAP_SMALL(name, collective, output, __VA_ARGS__)                                 \
    static int native_##collective##_c(const mpi::Library& library, const UserCall& call) { \
        const Count count = call.count;                                                     \
        if (library.name##_c != nullptr) return library.name##_c(__VA_ARGS__);              \
        return count <= INT_MAX ? native_##collective(library, call) : MPI_ERR_COUNT;       \
    }                                                                                       \
    int collective##_c(const Words& arguments, const void* caller) {                        \
        static const Wrapped function(#collective, output, native_##collective##_c);        \
        return serve(function, call_of<MPI_Count>(arguments), caller);                      \
    }
#else
#define RONDO_WRAP RONDO_WRAP_SMALL
#endif

RONDO_WRAP(Bcast, bcast, Output::is_the_input, call.output, count, call.datatype, call.root, call.comm)
RONDO_WRAP(Exscan, exscan, Output::after_rank_0, call.input, call.output, count, call.datatype, call.op, call.comm)
RONDO_WRAP(Reduce, reduce, Output::at_the_root, call.input, call.output, count, call.datatype, call.op, call.root,
           call.comm)
RONDO_WRAP(Scan, scan, Output::everywhere, call.input, call.output, count, call.datatype, call.op, call.comm)

void* detour(const char* name, const void* caller) {
    if (native_library(caller) == nullptr) return mpi::foreign_definition(name);
    return name[0] == 'P' ? nullptr : mpi::tool_definition(name);
}

}  // namespace rondo::interposer
