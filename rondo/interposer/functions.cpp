// SPDX-License-Identifier: BSD-3-Clause
// The functions that are wrapped, from machine words to a call that can be served, and back to the library.
#include <bit>
#include <climits>
#include <new>
#include <type_traits>
#include <vector>

#include "rondo/interposer/exports.hpp"
#include "rondo/interposer/serve.hpp"

namespace rondo::interposer {
namespace {

template <class Handle>
Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) return std::bit_cast<Handle>(word);
    else return static_cast<Handle>(word);
}

/// `Integer`: what the function's count is; the upper half of a word that holds an int means nothing.
template <class Integer>
UserCall call_of(const Words& words, const PartsArguments* parts = nullptr) {
    return {std::bit_cast<const void*>(words.input),
            std::bit_cast<void*>(words.output),
            static_cast<Integer>(words.count),
            handle<MPI_Datatype>(words.datatype),
            handle<MPI_Op>(words.op),
            static_cast<Rank>(words.root),
            handle<MPI_Comm>(words.comm),
            parts};
}

/// Rondo may find no memory for what it keeps of itself (instructions, the report), before it knows a communicator.
/// Callers in C know no exceptions.
template <class Call>
int without_exceptions(Call&& call) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

template <class Integer>
int serve_words(const Wrapped& function, const Words& words, const void* caller, LastCall& last) {
    return without_exceptions([&] { return serve(function, call_of<Integer>(words), caller, last); });
}

template <class Integer>
int serve_words(const Wrapped& function, const PartsWords& words, const void* caller, LastCall& last) {
    const auto numbers = [](const std::optional<Word>& array) {
        return array ? mpi::Numbers(std::bit_cast<const void*>(*array), std::is_same_v<Integer, int>) : mpi::Numbers();
    };
    const PartsArguments parts = {static_cast<Integer>(words.input_count), handle<MPI_Datatype>(words.input_type),
                                  numbers(words.counts), numbers(words.displacements)};
    return without_exceptions(
        [&] { return serve_parts(function, call_of<Integer>(words.common, &parts), caller, last); });
}

/// Of a call of a function that has them.
const PartsArguments& parts_of(const UserCall& call) {
    if (call.parts == nullptr) __builtin_unreachable();
    return *call.parts;
}

/// What a function of the library takes where others have one count.
template <class Integer>
const Integer* array(const mpi::Numbers& numbers) {
    return static_cast<const Integer*>(numbers.array());
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
/// Room for the numbers as ints. False if one does not fit.
bool as_ints(const mpi::Numbers& numbers, Rank size, std::vector<int>& ints, mpi::Numbers& result) {
    if (numbers.array() == nullptr) return true;
    for (Rank rank = 0; rank < size; ++rank) {
        if (numbers[rank] > INT_MAX || numbers[rank] < INT_MIN) return false;
        ints.push_back(static_cast<int>(numbers[rank]));
    }
    result = mpi::Numbers(ints.data(), true);
    return true;
}

/// A large-count call by a library that is older than our headers and lacks that form.
int call_small(const mpi::Library& library, const UserCall& call, Wrapped::Native native) {
    if (call.count > INT_MAX) return MPI_ERR_COUNT;
    if (call.parts == nullptr) return native(library, call);
    UserCall small = call;
    PartsArguments parts = *call.parts;
    if (parts.input_count > INT_MAX) return MPI_ERR_COUNT;
    // Of an inter-communicator, what is gathered comes from the other group.
    int inter = 0, size = 0;
    library.Comm_test_inter(call.comm, &inter);
    (inter != 0 && parts.displacements.is_argument() ? library.Comm_remote_size : library.Comm_size)(call.comm, &size);
    std::vector<int> counts, displacements;
    if (!as_ints(parts.counts, size, counts, parts.counts) ||
        !as_ints(parts.displacements, size, displacements, parts.displacements)) {
        return MPI_ERR_COUNT;
    }
    small.parts = &parts;
    return native(library, small);
}
#endif

}  // namespace

// name; function and its collective; its arguments here; where the output is; the arguments of the library's own
// function, which `call`, `count` and the types of numbers hold.
#define RONDO_WRAP_SMALL(name, function, collective, Arguments, output, ...)                                   \
    static int native_##function(const mpi::Library& library, const UserCall& call) {                          \
        using Integer = int;                                                                                   \
        using Displacement [[maybe_unused]] = int;                                                             \
        [[maybe_unused]] const auto count = static_cast<Integer>(call.count);                                  \
        return library.name(__VA_ARGS__);                                                                      \
    }                                                                                                          \
    int function(const Arguments& arguments, const void* caller, LastCall& last) {                             \
        static const Wrapped wrapped(#collective, output, native_##function, [](const mpi::Library& library) { \
            return reinterpret_cast<void*>(library.name);                                                      \
        });                                                                                                    \
        return serve_words<int>(wrapped, arguments, caller, last);                                             \
    }

#ifdef RONDO_HAVE_LARGE_COUNT_API
#define RONDO_WRAP(name, function, collective, Arguments, output, ...)                                             \
    RONDO_WRAP_SMALL(name, function, collective, Arguments, output, __VA_ARGS__)                                   \
    static int native_##function##_c(const mpi::Library& library, const UserCall& call) {                          \
        using Integer = MPI_Count;                                                                                 \
        using Displacement [[maybe_unused]] = MPI_Aint;                                                            \
        [[maybe_unused]] const Integer count = call.count;                                                         \
        if (library.name##_c == nullptr) return call_small(library, call, native_##function);                      \
        return library.name##_c(__VA_ARGS__);                                                                      \
    }                                                                                                              \
    int function##_c(const Arguments& arguments, const void* caller, LastCall& last) {                             \
        static const Wrapped wrapped(#collective, output, native_##function##_c, [](const mpi::Library& library) { \
            return reinterpret_cast<void*>(library.name##_c);                                                      \
        });                                                                                                        \
        return serve_words<MPI_Count>(wrapped, arguments, caller, last);                                           \
    }
#else
#define RONDO_WRAP RONDO_WRAP_SMALL
#endif

RONDO_WRAP(Allgather, allgather, allgather, PartsWords, Output::everywhere, call.input,
           static_cast<Integer>(parts_of(call).input_count), parts_of(call).input_type, call.output, count,
           call.datatype, call.comm)
RONDO_WRAP(Allgatherv, allgatherv, allgather, PartsWords, Output::everywhere, call.input,
           static_cast<Integer>(parts_of(call).input_count), parts_of(call).input_type, call.output,
           array<Integer>(parts_of(call).counts), array<Displacement>(parts_of(call).displacements), call.datatype,
           call.comm)
RONDO_WRAP(Allreduce, allreduce, allreduce, Words, Output::everywhere, call.input, call.output, count, call.datatype,
           call.op, call.comm)
RONDO_WRAP(Bcast, bcast, bcast, Words, Output::is_the_input, call.output, count, call.datatype, call.root, call.comm)
RONDO_WRAP(Exscan, exscan, exscan, Words, Output::after_rank_0, call.input, call.output, count, call.datatype, call.op,
           call.comm)
RONDO_WRAP(Reduce, reduce, reduce, Words, Output::at_the_root, call.input, call.output, count, call.datatype, call.op,
           call.root, call.comm)
RONDO_WRAP(Reduce_scatter, reduce_scatter, reduce_scatter, PartsWords, Output::everywhere, call.input, call.output,
           array<Integer>(parts_of(call).counts), call.datatype, call.op, call.comm)
RONDO_WRAP(Reduce_scatter_block, reduce_scatter_block, reduce_scatter, PartsWords, Output::everywhere, call.input,
           call.output, count, call.datatype, call.op, call.comm)
RONDO_WRAP(Scan, scan, scan, Words, Output::everywhere, call.input, call.output, count, call.datatype, call.op,
           call.comm)

void* detour(const char* name, const void* caller) {
    if (native_library(caller) == nullptr) return mpi::foreign_definition(name);
    return name[0] == 'P' ? nullptr : mpi::tool_definition(name);
}

}  // namespace rondo::interposer
