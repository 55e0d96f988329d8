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

template <class Integer>
mpi::Numbers numbers(const std::optional<Word>& array) {
    return array ? mpi::Numbers(std::bit_cast<const void*>(*array), std::is_same_v<Integer, int>) : mpi::Numbers();
}

/// `Integer`: what the function's count is; the upper half of a word that holds an int means nothing.
template <class Integer>
UserCall call_of(const Words& words) {
    const Word input = words.input | words.buffer, output = words.output | words.buffer;  // each function has one
    return {.input = std::bit_cast<const void*>(input),
            .output = std::bit_cast<void*>(output),
            .count = static_cast<Integer>(words.count),
            .counts = numbers<Integer>(words.counts),
            .datatype = handle<MPI_Datatype>(words.datatype),
            .op = handle<MPI_Op>(words.op),
            .root = static_cast<Rank>(words.root.value_or(0)),
            .comm = handle<MPI_Comm>(words.comm),
            .input_count = static_cast<Integer>(words.input_count),
            .input_type = handle<MPI_Datatype>(words.input_type),
            .part_count = static_cast<Integer>(words.part_count),
            .part_type = handle<MPI_Datatype>(words.part_type.value_or(0)),
            .displacements = numbers<Integer>(words.displacements),
            .input_counts = numbers<Integer>(words.input_counts),
            .input_displacements = numbers<Integer>(words.input_displacements)};
}

/// Rondo may find no memory for what it keeps of itself (instructions, the report), before it knows a communicator.
/// Callers in C know no exceptions.
template <class Integer>
int serve_words(const Wrapped& function, const Words& words, const void* caller, LastCall& last) {
    try {
        return serve(function, call_of<Integer>(words), caller, last);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

/// The arguments of a call as the library's own function takes them.
template <class Integer>
struct Arguments {
    using Displacement = std::conditional_t<std::is_same_v<Integer, int>, int, MPI_Aint>;

    explicit Arguments(const UserCall& call)
        : input(call.input), input_count(static_cast<Integer>(call.input_count)),
          input_counts(static_cast<const Integer*>(call.input_counts.array())),
          input_displacements(static_cast<const Displacement*>(call.input_displacements.array())),
          input_type(call.input_type), part_count(static_cast<Integer>(call.part_count)), part_type(call.part_type),
          buffer(call.output), output(call.output), count(static_cast<Integer>(call.count)),
          counts(static_cast<const Integer*>(call.counts.array())),
          displacements(static_cast<const Displacement*>(call.displacements.array())), datatype(call.datatype),
          op(call.op), root(call.root), comm(call.comm) {}

    const void* input;
    Integer input_count;
    const Integer* input_counts;
    const Displacement* input_displacements;
    MPI_Datatype input_type;
    Integer part_count;
    MPI_Datatype part_type;
    void* buffer;
    void* output;
    Integer count;
    const Integer* counts;
    const Displacement* displacements;
    MPI_Datatype datatype;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

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

/// A large-count call by a library that is older than our headers and lacks that form. What means nothing on this rank
/// may be anything.
int call_small(const char* collective, const mpi::Library& library, const UserCall& call, Wrapped::Native native) {
    int inter = 0, size = 0, rank = 0;
    library.Comm_test_inter(call.comm, &inter);
    library.Comm_rank(call.comm, &rank);
    const bool is_root = inter != 0 ? call.root == MPI_ROOT : call.root == rank;
    const bool has_whole = is_root || !find_collective(collective)->has.parts_of_the_root();
    const bool in_place = call.input == MPI_IN_PLACE || call.output == MPI_IN_PLACE;
    const bool is_long = !in_place && (call.input_count > INT_MAX || call.part_count > INT_MAX);
    if ((has_whole && call.count > INT_MAX) || is_long) return MPI_ERR_COUNT;
    if (!has_whole || !call.counts.is_argument()) return native(library, call);
    UserCall small = call;
    // Of an inter-communicator, what has a place for each rank is from, or for, the other group.
    (inter != 0 && call.displacements.is_argument() ? library.Comm_remote_size : library.Comm_size)(call.comm, &size);
    std::vector<int> counts, displacements, input_counts, input_displacements;
    if (!as_ints(call.counts, size, counts, small.counts) ||
        !as_ints(call.displacements, size, displacements, small.displacements)) {
        return MPI_ERR_COUNT;
    }
    if (call.input != MPI_IN_PLACE &&
        (!as_ints(call.input_counts, size, input_counts, small.input_counts) ||
         !as_ints(call.input_displacements, size, input_displacements, small.input_displacements))) {
        return MPI_ERR_COUNT;
    }
    return native(library, small);
}
#endif

}  // namespace

#define RONDO_ARGUMENT(argument) arguments.argument
#define RONDO_SERVE(function, collective, SHAPE, where)                                                               \
    static int native_##function(const mpi::Library& library, const UserCall& call) {                                 \
        const Arguments<int> arguments(call);                                                                         \
        return library.function(RONDO_##SHAPE(RONDO_ARGUMENT));                                                       \
    }                                                                                                                 \
    int serve_##function(const Words& words, const void* caller, LastCall& last) {                                    \
        static const Wrapped wrapped(#collective, Output::where, native_##function, [](const mpi::Library& library) { \
            return reinterpret_cast<void*>(library.function);                                                         \
        });                                                                                                           \
        return serve_words<int>(wrapped, words, caller, last);                                                        \
    }
RONDO_WRAPPED_FUNCTIONS(RONDO_SERVE)
RONDO_FUNCTIONS_WITHOUT_COUNT(RONDO_SERVE)

#ifdef RONDO_HAVE_LARGE_COUNT_API
#define RONDO_SERVE_LARGE(function, collective, SHAPE, where)                                                  \
    static int native_##function##_c(const mpi::Library& library, const UserCall& call) {                      \
        if (library.function##_c == nullptr) return call_small(#collective, library, call, native_##function); \
        const Arguments<MPI_Count> arguments(call);                                                            \
        return library.function##_c(RONDO_##SHAPE(RONDO_ARGUMENT));                                            \
    }                                                                                                          \
    int serve_##function##_c(const Words& words, const void* caller, LastCall& last) {                         \
        static const Wrapped wrapped(                                                                          \
            #collective, Output::where, native_##function##_c,                                                 \
            [](const mpi::Library& library) { return reinterpret_cast<void*>(library.function##_c); });        \
        return serve_words<MPI_Count>(wrapped, words, caller, last);                                           \
    }
RONDO_WRAPPED_FUNCTIONS(RONDO_SERVE_LARGE)
#endif

void* detour(const char* name, const void* caller) {
    if (connected_library(caller) == nullptr) return mpi::foreign_definition(name);
    return name[0] == 'P' ? nullptr : mpi::tool_definition(name);
}

}  // namespace rondo::interposer
