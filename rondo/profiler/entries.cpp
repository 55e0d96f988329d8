// SPDX-License-Identifier: BSD-3-Clause
// The symbols that programs find before those of the MPI library: for each function that <mpi.h> declares, by a list
// that the build makes of it (scripts/profiled_functions.py). Both names are there. Open MPI's Fortran layer calls
// PMPI_, and so do tools that are loaded before this library; what a tool behind it calls is the tool's business, and
// not counted again. Each argument takes a register or, from the seventh on on x86-64, a word of the stack, whatever
// its type: who is called with these words finds what it would have found without Rondo.
#include <atomic>

#include "rondo/profiler/argument_lists.hpp"
#include "rondo/profiler/recorder.hpp"
#include "rondo/profiler/requests.hpp"

namespace rondo::profiler {
namespace {

enum Number : std::uint32_t {
#define RONDO_FORTRAN(...)
#define RONDO_TIMED(name, ...) number_of_##name,
#define RONDO_COLLECTIVE(name, ...) number_of_##name,
#include "rondo/profiler/profiled_functions.inc"
#undef RONDO_TIMED
#undef RONDO_COLLECTIVE
    count_of_functions
};

constexpr const char* names[] = {
#define RONDO_TIMED(name, ...) "MPI_" #name,
#define RONDO_COLLECTIVE(name, ...) "MPI_" #name,
#include "rondo/profiler/profiled_functions.inc"
#undef RONDO_TIMED
#undef RONDO_COLLECTIVE
};
#undef RONDO_FORTRAN
static_assert(count_of_functions <= std::tuple_size_v<decltype(Image::functions)>);

/// The arguments of a call by their names in rondo/mpi_functions.txt.
struct Words {
    Word input, input_count, input_counts, input_displacements, input_type, input_types, part_count, part_type, buffer,
        output, count, counts, displacements, datatype, types, op, root, comm;
};

constexpr bool blocking = true, nonblocking = false;

template <class Integer>
[[gnu::always_inline]] inline Call call_of(const Words& words, std::uint32_t function, std::uint32_t base, bool blocks,
                                           Lengths lengths, bool rooted, const void* caller, Word frames) {
    return {.function = function,
            .base = base,
            .blocks = blocks,
            .comm = static_cast<HandleWord>(words.comm),
            .datatype = static_cast<HandleWord>(words.datatype),
            .part_type = static_cast<HandleWord>(words.part_type),
            .op = static_cast<HandleWord>(words.op),
            .root = rooted ? static_cast<std::int32_t>(words.root) : -1,
            .count = static_cast<Integer>(words.count),
            .part_count = static_cast<Integer>(words.part_count),
            .counts = std::bit_cast<const void*>(words.counts),
            .counts_are_ints = std::is_same_v<Integer, int>,
            .lengths = lengths,
            .caller = thread.fortran_caller != nullptr ? thread.fortran_caller : caller,
            .frames = frames};
}

// What there is to do in a function besides timing it. `before` may see what the call will change.
// NOLINTBEGIN(readability-identifier-naming): names that macros are given
namespace role {
struct nothing {
    static constexpr bool is_of_requests = false;  ///< and then nothing as long as none of a collective is open
    explicit nothing(const Word* /*arguments*/, std::uint32_t /*count*/) {}
    static void after(const Word* /*arguments*/, std::uint32_t /*count*/, std::uint32_t /*function*/) {}
    static std::uint64_t bytes(const Word* /*arguments*/) { return 0; }
};
/// Of one request: the first argument says where it is.
struct completes_one : nothing {
    static constexpr bool is_of_requests = true;
    explicit completes_one(const Word* arguments, std::uint32_t count)
        : nothing(arguments, count),
          completion_({std::bit_cast<const HandleWord*>(arguments[0]), 1}, Completion::Of::all) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    Completion completion_;
};
/// The first argument says how many requests there are, the second where.
template <Completion::Of of>
struct completes_several : nothing {
    static constexpr bool is_of_requests = true;
    explicit completes_several(const Word* arguments, std::uint32_t count)
        : nothing(arguments, count),
          completion_({std::bit_cast<const HandleWord*>(arguments[1]),
                       static_cast<std::size_t>(std::max(static_cast<int>(arguments[0]), 0))},
                      of) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    Completion completion_;
};
using completes_all = completes_several<Completion::Of::all>;
using completes_some = completes_several<Completion::Of::some>;
/// The first argument is a request.
struct asks : nothing {
    static constexpr bool is_of_requests = true;
    explicit asks(const Word* arguments, std::uint32_t count)
        : nothing(arguments, count), request_(static_cast<HandleWord>(arguments[0])),
          completion_({&request_, 1}, Completion::Of::all) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    HandleWord request_;
    Completion completion_;
};
struct frees : nothing {
    static constexpr bool is_of_requests = true;
    explicit frees(const Word* arguments, std::uint32_t count) : nothing(arguments, count) {
        forget_request(*std::bit_cast<const HandleWord*>(arguments[0]));
    }
};
struct sends : nothing {
    using nothing::nothing;
    /// The second and third argument say what is sent. The upper half of a word that holds an int means nothing.
    static std::uint64_t bytes(const Word* arguments) {
        const std::int64_t count = static_cast<int>(arguments[1]);
        return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0) *
                                          size_of_type(static_cast<HandleWord>(arguments[2])));
    }
};
/// The same with large counts.
struct sends_many : nothing {
    using nothing::nothing;
    static std::uint64_t bytes(const Word* arguments) {
        return arguments[1] * static_cast<std::uint64_t>(size_of_type(static_cast<HandleWord>(arguments[2])));
    }
};
struct makes_last : nothing {
    using nothing::nothing;
    static void after(const Word* arguments, std::uint32_t count, std::uint32_t function) {
        note_communicator(*std::bit_cast<const HandleWord*>(arguments[count - 1]), names[function]);
    }
};
/// Not to be asked about before the request is done.
struct makes_last_but_one : nothing {
    using nothing::nothing;
    static void after(const Word* arguments, std::uint32_t count, std::uint32_t function) {
        announce_communicator(*std::bit_cast<const HandleWord*>(arguments[count - 2]), names[function]);
    }
};
struct ends : nothing {
    /// Before the library can give its handle to a new one.
    explicit ends(const Word* arguments, std::uint32_t count) : nothing(arguments, count) {
        forget_communicator(*std::bit_cast<const HandleWord*>(arguments[0]));
    }
};
struct renames : nothing {
    using nothing::nothing;
    static void after(const Word* arguments, std::uint32_t /*count*/, std::uint32_t /*function*/) {
        rename_communicator(static_cast<HandleWord>(arguments[0]));
    }
};
struct changes : nothing {
    using nothing::nothing;
    static void after(const Word* /*arguments*/, std::uint32_t /*count*/, std::uint32_t /*function*/) {
        mpi::end_epoch();
    }
};
}  // namespace role
// NOLINTEND(readability-identifier-naming)

/// Times a call. Roles have their part in calls of MPI functions by MPI functions, too.
template <class Role, class... Arguments>
[[gnu::always_inline]] inline int timed(int (*function)(Arguments...), std::uint32_t number, Arguments... arguments) {
    if constexpr (Role::is_of_requests) {
        if (open_requests.load(std::memory_order_relaxed) == 0) [[likely]]
            return timed<role::nothing>(function, number, arguments...);
    }
    if (!recorder.on) return function(arguments...);
    const Word words[] = {arguments..., 0};
    constexpr auto count = static_cast<std::uint32_t>(sizeof...(arguments));
    if constexpr (std::is_same_v<Role, role::nothing>) {
        if (thread.inside) return function(arguments...);
    }
    Role here(words, count);
    if (thread.inside) {
        const int error = function(arguments...);
        if (error == 0) here.after(words, count, number);
        return error;
    }
    const Inside inside;
    const int error = function(arguments...);
    count_call(number, inside.entry(), here.bytes(words), [&](Ticks elapsed) {
        if constexpr (requires { here.own_part(elapsed); }) return here.own_part(elapsed);  // not a message's
        else return elapsed;
    });
    if (error == 0) here.after(words, count, number);
    return error;
}

template <class... Arguments>
[[gnu::always_inline]] inline int called_by_fortran(int (*function)(Arguments...), const void* caller,
                                                    Arguments... arguments) {
    if (!records() || thread.fortran_caller != nullptr) return function(arguments...);
    thread.fortran_caller = caller;
    const int unused = function(arguments...);  // a subroutine
    thread.fortran_caller = nullptr;
    return unused;
}

}  // namespace

const char* name_of(std::uint32_t function) { return names[function]; }
std::uint32_t functions() { return count_of_functions; }

}  // namespace rondo::profiler

// NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters
#define RONDO_PARAMETERS_0
#define RONDO_PARAMETERS_1 Word a
#define RONDO_PARAMETERS_2 RONDO_PARAMETERS_1, Word b
#define RONDO_PARAMETERS_3 RONDO_PARAMETERS_2, Word c
#define RONDO_PARAMETERS_4 RONDO_PARAMETERS_3, Word d
#define RONDO_PARAMETERS_5 RONDO_PARAMETERS_4, Word e
#define RONDO_PARAMETERS_6 RONDO_PARAMETERS_5, Word f
#define RONDO_PARAMETERS_7 RONDO_PARAMETERS_6, Word g
#define RONDO_PARAMETERS_8 RONDO_PARAMETERS_7, Word h
#define RONDO_PARAMETERS_9 RONDO_PARAMETERS_8, Word i
#define RONDO_PARAMETERS_10 RONDO_PARAMETERS_9, Word j
#define RONDO_PARAMETERS_11 RONDO_PARAMETERS_10, Word k
#define RONDO_PARAMETERS_12 RONDO_PARAMETERS_11, Word l
#define RONDO_PARAMETERS_13 RONDO_PARAMETERS_12, Word m
#define RONDO_ARGUMENTS_0
#define RONDO_ARGUMENTS_1 , a
#define RONDO_ARGUMENTS_2 RONDO_ARGUMENTS_1, b
#define RONDO_ARGUMENTS_3 RONDO_ARGUMENTS_2, c
#define RONDO_ARGUMENTS_4 RONDO_ARGUMENTS_3, d
#define RONDO_ARGUMENTS_5 RONDO_ARGUMENTS_4, e
#define RONDO_ARGUMENTS_6 RONDO_ARGUMENTS_5, f
#define RONDO_ARGUMENTS_7 RONDO_ARGUMENTS_6, g
#define RONDO_ARGUMENTS_8 RONDO_ARGUMENTS_7, h
#define RONDO_ARGUMENTS_9 RONDO_ARGUMENTS_8, i
#define RONDO_ARGUMENTS_10 RONDO_ARGUMENTS_9, j
#define RONDO_ARGUMENTS_11 RONDO_ARGUMENTS_10, k
#define RONDO_ARGUMENTS_12 RONDO_ARGUMENTS_11, l
#define RONDO_ARGUMENTS_13 RONDO_ARGUMENTS_12, m
// NOLINTEND(bugprone-macro-parentheses)

using rondo::profiler::Word;
namespace rondo::profiler {

namespace {
/// Looked up in the first call.
template <class Function>
[[gnu::always_inline]] inline Function behind(std::atomic<Function>& known, const char* name, const void* caller) {
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] {
        function = reinterpret_cast<Function>(function_behind(name, caller));
        known.store(function, std::memory_order_relaxed);
    }
    return function;
}
}  // namespace

#define RONDO_ENTRY(symbol, name, arity, role_of_it)                                         \
    extern "C" __attribute__((visibility("default"))) int symbol(RONDO_PARAMETERS_##arity) { \
        static constinit std::atomic<int (*)(RONDO_PARAMETERS_##arity)> known{nullptr};      \
        const auto function = behind(known, #symbol, __builtin_return_address(0));           \
        return timed<role::role_of_it>(function, number_of_##name RONDO_ARGUMENTS_##arity);  \
    }

#define RONDO_TIMED(name, arity, role_of_it)         \
    RONDO_ENTRY(MPI_##name, name, arity, role_of_it) \
    RONDO_ENTRY(PMPI_##name, name, arity, role_of_it)

#define RONDO_PARAMETER(argument) Word argument
#define RONDO_ARGUMENT(argument) argument
#define RONDO_WORD(argument) words.argument = argument
#define RONDO_blocking(what)
#define RONDO_nonblocking(what) , what request
#define RONDO_REMEMBER_blocking(slot, error)
#define RONDO_REMEMBER_nonblocking(slot, error) \
    if ((error) == 0) remember_request(*std::bit_cast<const HandleWord*>(request), (slot).line);

#define RONDO_CALL(name, base, Integer, kind, caller, frames)                                                        \
    [&] {                                                                                                            \
        Words words{};                                                                                               \
        RONDO_ARGUMENTS_OF_##base(RONDO_WORD);                                                                       \
        return call_of<Integer>(words, number_of_##name, number_of_##base, kind, lengths_of_##base, has_root_##base, \
                                caller, frames);                                                                     \
    }()

// A call like one that the thread has made before is counted in few instructions; all else is in a function of its own.
#define RONDO_COLLECTIVE_ENTRY(symbol, name, base, Integer, kind)                                           \
    static constinit std::atomic<int (*)(RONDO_ARGUMENTS_OF_##base(RONDO_PARAMETER) RONDO_##kind(Word))>    \
        symbol##_known{nullptr};                                                                            \
    __attribute__((noinline)) static int symbol##_carefully(                                                \
        RONDO_ARGUMENTS_OF_##base(RONDO_PARAMETER) RONDO_##kind(Word), const void* caller) {                \
        const auto function = behind(symbol##_known, #symbol, caller);                                      \
        if (!records()) return function(RONDO_ARGUMENTS_OF_##base(RONDO_ARGUMENT) RONDO_##kind());          \
        const Word frames = recorder.directly ? 0 : (recorder.python ? python_frames() : 0) | 1U;           \
        const Call call = RONDO_CALL(name, base, Integer, kind, caller, frames);                            \
        std::uint64_t bytes = 0;                                                                            \
        const Slot& slot = slot_for(call, bytes);                                                           \
        const Inside inside;                                                                                \
        const int error = function(RONDO_ARGUMENTS_OF_##base(RONDO_ARGUMENT) RONDO_##kind());               \
        count_carefully(slot, bytes, inside.entry());                                                       \
        RONDO_REMEMBER_##kind(slot, error) return error;                                                    \
    }                                                                                                       \
    extern "C" __attribute__((visibility("default"))) int symbol(RONDO_ARGUMENTS_OF_##base(RONDO_PARAMETER) \
                                                                     RONDO_##kind(Word)) {                  \
        const auto function = symbol##_known.load(std::memory_order_relaxed);                               \
        const Call call = RONDO_CALL(name, base, Integer, kind, __builtin_return_address(0), 0);            \
        std::uint64_t bytes = 0;                                                                            \
        const Slot& slot = place_of(call);                                                                  \
        if (function == nullptr || thread.inside || !slot.holds(call, bytes)) [[unlikely]]                  \
            return symbol##_carefully(RONDO_ARGUMENTS_OF_##base(RONDO_ARGUMENT) RONDO_##kind(),             \
                                      __builtin_return_address(0));                                         \
        const Inside inside(processor_ticks());                                                             \
        const int error = function(RONDO_ARGUMENTS_OF_##base(RONDO_ARGUMENT) RONDO_##kind());               \
        count_directly(slot, bytes, inside.entry());                                                        \
        RONDO_REMEMBER_##kind(slot, error) return error;                                                    \
    }
#define RONDO_COLLECTIVE(name, base, Integer, kind)               \
    RONDO_COLLECTIVE_ENTRY(MPI_##name, name, base, Integer, kind) \
    RONDO_COLLECTIVE_ENTRY(PMPI_##name, name, base, Integer, kind)

// What Fortran calls. It calls one of the functions above in turn, which would take the library for its caller.
#define RONDO_FORTRAN(symbol, arity)                                                             \
    extern "C" __attribute__((visibility("default"))) int symbol(RONDO_PARAMETERS_##arity) {     \
        static constinit std::atomic<int (*)(RONDO_PARAMETERS_##arity)> known{nullptr};          \
        const auto function = behind(known, #symbol, __builtin_return_address(0));               \
        return called_by_fortran(function, __builtin_return_address(0) RONDO_ARGUMENTS_##arity); \
    }

#include "rondo/profiler/profiled_functions.inc"

}  // namespace rondo::profiler
