// SPDX-License-Identifier: BSD-3-Clause
// The functions that are wrapped, from machine words to a call that can be served, and back to the library.
#include "rondo/interposer/functions.hpp"

#include <bit>
#include <climits>
#include <new>
#include <vector>

#include "rondo/interposer/words.hpp"

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

mpi::Datatypes datatypes(const std::optional<Word>& array) {
    return array ? mpi::Datatypes(std::bit_cast<const MPI_Datatype*>(*array)) : mpi::Datatypes();
}

/// `Integer`: the type of the function's count; the upper half of a word that holds an int is undefined.
template <class Integer>
UserCall call_of(const Words& words) {
    return {.input = words.input_buffer(),
            .output = words.output_buffer(),
            .count = static_cast<Integer>(words.count),
            .counts = numbers<Integer>(words.counts),
            .datatype = handle<MPI_Datatype>(words.datatype),
            .types = datatypes(words.types),
            .op = handle<MPI_Op>(words.op),
            .root = static_cast<Rank>(words.root.value_or(0)),
            .comm = handle<MPI_Comm>(words.comm),
            .input_count = static_cast<Integer>(words.input_count),
            .input_type = handle<MPI_Datatype>(words.input_type),
            .input_types = datatypes(words.input_types),
            .part_count = static_cast<Integer>(words.part_count),
            .part_type = handle<MPI_Datatype>(words.part_type.value_or(0)),
            .displacements = numbers<Integer>(words.displacements),
            .input_counts = numbers<Integer>(words.input_counts),
            .input_displacements = numbers<Integer>(words.input_displacements),
            .info = handle<MPI_Info>(words.info),
            .request = std::bit_cast<MPI_Request*>(words.request)};
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
/// Converts the numbers to ints in `ints`. False if one does not fit.
bool as_ints(const mpi::Numbers& numbers, Rank size, std::vector<int>& ints, mpi::Numbers& result) {
    if (numbers.array() == nullptr) return true;
    for (Rank rank = 0; rank < size; ++rank) {
        if (numbers[rank] > INT_MAX || numbers[rank] < INT_MIN) return false;
        ints.push_back(static_cast<int>(numbers[rank]));
    }
    result = mpi::Numbers(ints.data(), true);
    return true;
}
#endif

}  // namespace

/// Programs that are compiled for a newer library do not start without Rondo: they have not looked for the function.
int call_missing(const mpi::Library& library, const UserCall& call) {
    library.Comm_call_errhandler(call.comm, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
int call_small(std::string_view collective, const mpi::Library& library, const UserCall& call, Wrapped::Native native) {
    int inter = 0, size = 0, rank = 0;
    library.Comm_test_inter(call.comm, &inter);
    library.Comm_rank(call.comm, &rank);
    const bool is_root = inter != 0 ? call.root == MPI_ROOT : call.root == rank;
    const bool has_whole = is_root || !find_collective(collective)->has.parts_of_the_root();
    const bool in_place = call.input == MPI_IN_PLACE || call.output == MPI_IN_PLACE;
    const bool is_long = !in_place && (call.input_count > INT_MAX || call.part_count > INT_MAX);
    if ((has_whole && call.count > INT_MAX) || is_long) return MPI_ERR_COUNT;
    if (!has_whole || !call.counts.is_argument()) return native(library, call);
    if (call.request != nullptr) return MPI_ERR_COUNT;  // nobody would keep the arrays
    UserCall small = call;
    // On an inter-communicator, an array has an element for each rank of the other group.
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

/// Rondo may find no memory for its own state (instructions, the report), before it knows a communicator. Callers in C
/// know no exceptions.
int serve_words(mpi::Function function, const Words& words, const void* caller, CachedCall& cached) {
    const bool is_large = mpi::has_large_counts(function);
    try {
        return serve(wrapped(function), is_large ? call_of<std::int64_t>(words) : call_of<int>(words), caller, cached);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

void* detour(const char* name, const void* caller) {
    if (connected_library(caller) == nullptr) return mpi::definition_in_library(name);
    return name[0] == 'P' ? nullptr : mpi::tool_definition(name);
}

}  // namespace rondo::interposer
