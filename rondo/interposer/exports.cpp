// SPDX-License-Identifier: BSD-3-Clause
// The symbols that programs find before those of the MPI library. The profiling names are among them: Open MPI's
// Fortran layer calls PMPI_, and so do tools, beneath which Rondo stands. Without <mpi.h>, whose declarations are those
// of one ABI.
#include "rondo/interposer/exports.hpp"

using rondo::interposer::CallWords;
using rondo::interposer::HandleWord;
using rondo::interposer::LastCall;
using rondo::interposer::note_left_call;
using rondo::interposer::place_of;
using rondo::interposer::places;
using rondo::interposer::Word;

namespace {

/// Without the bits that mean nothing. `Integer`: as wide as the function's count.
template <class Integer>
CallWords words_of(Word comm, Word count, Word datatype, Word op, Word root) {
    return {static_cast<HandleWord>(comm), static_cast<Integer>(count), static_cast<HandleWord>(datatype),
            static_cast<HandleWord>(op), static_cast<std::uint32_t>(root)};
}

}  // namespace

// Each argument takes a register or, from the seventh on on x86-64, a word of the stack, whatever its type: who is
// called with these words finds what it would have found without Rondo. What is handed on again is handed on in a few
// instructions, without a frame on the stack; all else is in a function of its own.
#define RONDO_EXPORT(name, serve, shape, Integer)                                                       \
    static RONDO_THREAD_LOCAL constinit LastCall name##_known[places];                                  \
    __attribute__((noinline)) static int name##_carefully(shape##_PARAMETERS, const void* caller) {     \
        using Function = int (*)(shape##_PARAMETERS);                                                   \
        static const auto other = reinterpret_cast<Function>(rondo::interposer::detour(#name, caller)); \
        if (other != nullptr) return other(shape##_ARGUMENTS);                                          \
        LastCall& last = name##_known[place_of(static_cast<HandleWord>(comm))];                         \
        const CallWords words = words_of<Integer>(shape##_DECIDING_WORDS);                              \
        if (!last.holds_for(words)) last.forget(words);                                                 \
        return rondo::interposer::serve(shape##_WORDS, caller, last);                                   \
    }                                                                                                   \
    extern "C" __attribute__((visibility("default"))) int name(shape##_PARAMETERS) {                    \
        using Function = int (*)(shape##_PARAMETERS);                                                   \
        const LastCall& last = name##_known[place_of(static_cast<HandleWord>(comm))];                   \
        if (last.native != nullptr && last.holds_for(words_of<Integer>(shape##_DECIDING_WORDS))) {      \
            note_left_call(last.collective, last.reason);                                               \
            return reinterpret_cast<Function>(last.native)(shape##_ARGUMENTS);                          \
        }                                                                                               \
        return name##_carefully(shape##_ARGUMENTS, __builtin_return_address(0));                        \
    }

#ifdef RONDO_HAVE_LARGE_COUNT_API
#define RONDO_EXPORT_LARGE(name, serve, shape) RONDO_EXPORT(name, serve, shape, Word)
#else
#define RONDO_EXPORT_LARGE(name, serve, shape)
#endif

#define RONDO_EXPORTS(name, serve, shape)                  \
    RONDO_EXPORT(MPI_##name, serve, shape, std::uint32_t)  \
    RONDO_EXPORT(PMPI_##name, serve, shape, std::uint32_t) \
    RONDO_EXPORT_LARGE(MPI_##name##_c, serve##_c, shape)   \
    RONDO_EXPORT_LARGE(PMPI_##name##_c, serve##_c, shape)

// What functions of one shape are declared with and called with, and which argument is which.
#define MOVING_ONE_BUFFER_PARAMETERS Word buffer, Word count, Word datatype, Word root, Word comm
#define MOVING_ONE_BUFFER_DECIDING_WORDS comm, count, datatype, 0, root
#define MOVING_ONE_BUFFER_ARGUMENTS buffer, count, datatype, root, comm
#define MOVING_ONE_BUFFER_WORDS \
    {.input = buffer, .output = buffer, .count = count, .datatype = datatype, .root = root, .comm = comm}

#define REDUCING_PARAMETERS Word input, Word output, Word count, Word datatype, Word op, Word comm
#define REDUCING_DECIDING_WORDS comm, count, datatype, op, 0
#define REDUCING_ARGUMENTS input, output, count, datatype, op, comm
#define REDUCING_WORDS {.input = input, .output = output, .count = count, .datatype = datatype, .op = op, .comm = comm}

#define REDUCING_TO_A_ROOT_PARAMETERS Word input, Word output, Word count, Word datatype, Word op, Word root, Word comm
#define REDUCING_TO_A_ROOT_DECIDING_WORDS comm, count, datatype, op, root
#define REDUCING_TO_A_ROOT_ARGUMENTS input, output, count, datatype, op, root, comm
#define REDUCING_TO_A_ROOT_WORDS \
    {.input = input, .output = output, .count = count, .datatype = datatype, .op = op, .root = root, .comm = comm}

#define REDUCING_EQUAL_PARTS_PARAMETERS REDUCING_PARAMETERS
#define REDUCING_EQUAL_PARTS_DECIDING_WORDS comm, count, datatype, op, 0
#define REDUCING_EQUAL_PARTS_ARGUMENTS REDUCING_ARGUMENTS
#define REDUCING_EQUAL_PARTS_WORDS {.common = REDUCING_WORDS}

#define REDUCING_PARTS_PARAMETERS Word input, Word output, Word counts, Word datatype, Word op, Word comm
#define REDUCING_PARTS_DECIDING_WORDS comm, 0, datatype, op, 0
#define REDUCING_PARTS_ARGUMENTS input, output, counts, datatype, op, comm
#define REDUCING_PARTS_WORDS \
    {.common = {.input = input, .output = output, .datatype = datatype, .op = op, .comm = comm}, .counts = counts}

#define GATHERING_EQUAL_PARTS_PARAMETERS \
    Word input, Word input_count, Word input_type, Word output, Word count, Word datatype, Word comm
#define GATHERING_EQUAL_PARTS_DECIDING_WORDS comm, count, datatype, 0, 0
#define GATHERING_EQUAL_PARTS_ARGUMENTS input, input_count, input_type, output, count, datatype, comm
#define GATHERING_EQUAL_PARTS_WORDS                                                                    \
    {.common = {.input = input, .output = output, .count = count, .datatype = datatype, .comm = comm}, \
     .input_count = input_count,                                                                       \
     .input_type = input_type}

#define GATHERING_PARTS_PARAMETERS                                                                              \
    Word input, Word input_count, Word input_type, Word output, Word counts, Word displacements, Word datatype, \
        Word comm
#define GATHERING_PARTS_DECIDING_WORDS comm, 0, datatype, 0, 0
#define GATHERING_PARTS_ARGUMENTS input, input_count, input_type, output, counts, displacements, datatype, comm
#define GATHERING_PARTS_WORDS                                                          \
    {.common = {.input = input, .output = output, .datatype = datatype, .comm = comm}, \
     .input_count = input_count,                                                       \
     .input_type = input_type,                                                         \
     .counts = counts,                                                                 \
     .displacements = displacements}

RONDO_EXPORTS(Allgather, allgather, GATHERING_EQUAL_PARTS)
RONDO_EXPORTS(Allgatherv, allgatherv, GATHERING_PARTS)
RONDO_EXPORTS(Allreduce, allreduce, REDUCING)
RONDO_EXPORTS(Bcast, bcast, MOVING_ONE_BUFFER)
RONDO_EXPORTS(Exscan, exscan, REDUCING)
RONDO_EXPORTS(Reduce, reduce, REDUCING_TO_A_ROOT)
RONDO_EXPORTS(Reduce_scatter, reduce_scatter, REDUCING_PARTS)
RONDO_EXPORTS(Reduce_scatter_block, reduce_scatter_block, REDUCING_EQUAL_PARTS)
RONDO_EXPORTS(Scan, scan, REDUCING)
