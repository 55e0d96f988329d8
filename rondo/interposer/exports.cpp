// SPDX-License-Identifier: BSD-3-Clause
// The symbols that programs find before those of the MPI library. The profiling names are among them: Open MPI's
// Fortran layer calls PMPI_, and so do tools, beneath which Rondo stands. Without <mpi.h>, whose declarations are those
// of one ABI.
#include "rondo/interposer/exports.hpp"

#include <bit>

#include "rondo/interposer/counting.hpp"

using rondo::interposer::CallWords;
using rondo::interposer::Counting;
using rondo::interposer::HandleWord;
using rondo::interposer::keep_beside;
using rondo::interposer::kept_beside;
using rondo::interposer::last_calls;
using rondo::interposer::LastCall;
using rondo::interposer::own_last_calls;
using rondo::interposer::place_of;
using rondo::interposer::places;
using rondo::interposer::places_beside;
using rondo::interposer::Word;
using rondo::interposer::Words;

namespace {

/// Without the bits that mean nothing. `Integer`: the type of the function's count; `rank`: see LastCall.
template <class Integer>
CallWords words_of(const Words& words, int rank) {
    const int root = static_cast<int>(words.root.value_or(0));
    const bool by_part = words.is_whole_at_root() && root != rank;
    const Word count = by_part ? words.part_count : words.count;
    const Word datatype = by_part ? words.part_type.value_or(0) : words.datatype;
    return {static_cast<HandleWord>(words.comm), static_cast<Integer>(count), static_cast<HandleWord>(datatype),
            static_cast<HandleWord>(words.op), root};
}

/// Its address is not worked out again.
const LastCall& kept_in_a_register(const LastCall& last) {
    const LastCall* address = &last;
    asm("" : "+r"(address));
    return *address;
}

/// As LastCall::hands_on takes it: the call's count, or the sum of those of `ranks` ranks.
template <class Integer>
std::int64_t count_of(const Words& words, const CallWords& deciding, int ranks) {
    if (!words.counts) return deciding.count;
    if (ranks == 0) return 0;  // any sum will do
    const auto* const counts = std::bit_cast<const Integer*>(*words.counts);
    if (counts == nullptr) return -1;
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        sum += static_cast<std::uint64_t>(counts[rank]);
        asm("" : "+r"(sum));  // no vectors, which would not pay for a few ranks
    }
    return static_cast<std::int64_t>(sum);
}

/// The call goes to the library without a second look.
template <class Integer>
[[gnu::always_inline]] inline bool hands_on(const LastCall& last, const Words& words, const CallWords& deciding) {
    return last.is_handed_on(deciding) && last.hands_on(count_of<Integer>(words, deciding, last.ranks)) &&
           last.count_call();
}

/// The call goes to the library without a second look, and the report counts it.
template <class Integer>
bool hands_on_counted(const LastCall& last, const Words& words, const CallWords& deciding) {
    return last.is_counted(deciding) && last.hands_on(count_of<Integer>(words, deciding, last.ranks)) &&
           last.count_call();
}

int again(LastCall& last, const Words& words) {
    // Each function has a single buffer, or two.
    const Word input = words.input | words.buffer, output = words.output | words.buffer;
    return last.again(last, std::bit_cast<const void*>(input), std::bit_cast<void*>(output));
}

/// Of all places.
constexpr std::size_t table_size() noexcept;
constexpr std::size_t functions_before = __COUNTER__ + 1;

}  // namespace

// Each argument takes a register or, from the seventh on on x86-64, a word of the stack, whatever its type: who is
// called with these words finds what it would have found without Rondo. What is handed on again is handed on in a few
// instructions, without a frame on the stack; all else is in a function of its own.
#define RONDO_PARAMETER(argument) Word argument
#define RONDO_ARGUMENT(argument) argument
#define RONDO_WORD(argument) made.argument = argument
// Functions have their arguments in different orders.
#define RONDO_WORDS(SHAPE) \
    [&] {                  \
        Words made;        \
        SHAPE(RONDO_WORD); \
        return made;       \
    }()
#define RONDO_EXPORT(name, serve, SHAPE, Integer)                                                                      \
    static constexpr std::size_t name##_first = places_beside + places * (__COUNTER__ - functions_before);             \
    __attribute__((noinline)) static int name##_once(const Words& words, const void* caller) {                         \
        LastCall forgotten;                                                                                            \
        return rondo::interposer::serve(words, caller, forgotten);                                                     \
    }                                                                                                                  \
    __attribute__((noinline)) static int name##_counted(const LastCall& last, std::int64_t in_all,                     \
                                                        SHAPE(RONDO_PARAMETER)) {                                      \
        const auto native = reinterpret_cast<int (*)(SHAPE(RONDO_PARAMETER))>(last.native);                            \
        const Counting counting(last, in_all);                                                                         \
        last.left->note(last.reason);                                                                                  \
        return native(SHAPE(RONDO_ARGUMENT));                                                                          \
    }                                                                                                                  \
    __attribute__((noinline)) static int name##_carefully(SHAPE(RONDO_PARAMETER), const void* caller) {                \
        using Function = int (*)(SHAPE(RONDO_PARAMETER));                                                              \
        static const auto other = reinterpret_cast<Function>(rondo::interposer::detour(#name, caller));                \
        if (other != nullptr) return other(SHAPE(RONDO_ARGUMENT));                                                     \
        const std::size_t place = name##_first + place_of(static_cast<HandleWord>(comm));                              \
        const void* const places_of_function = last_calls + name##_first;                                              \
        const LastCall& known = last_calls[place];                                                                     \
        const CallWords deciding = words_of<Integer>(RONDO_WORDS(SHAPE), known.rank);                                  \
        if (known.is_served(deciding)) {                                                                               \
            const int error = again(const_cast<LastCall&>(known), RONDO_WORDS(SHAPE));                                 \
            if (error != LastCall::not_again) return error;                                                            \
        } else {                                                                                                       \
            const bool is_last = known.is_counted(deciding) &&                                                         \
                                 known.hands_on(count_of<Integer>(RONDO_WORDS(SHAPE), deciding, known.ranks));         \
            const LastCall* const found = is_last ? &known : kept_beside(places_of_function, known, deciding);         \
            if (found != nullptr && found->is_served(deciding)) {                                                      \
                const int error = again(const_cast<LastCall&>(*found), RONDO_WORDS(SHAPE));                            \
                if (error != LastCall::not_again) return error;                                                        \
            } else if (found != nullptr && hands_on<Integer>(*found, RONDO_WORDS(SHAPE), deciding)) {                  \
                found->left->note(found->reason);                                                                      \
                return reinterpret_cast<Function>(found->native)(SHAPE(RONDO_ARGUMENT));                               \
            } else if (found != nullptr && hands_on_counted<Integer>(*found, RONDO_WORDS(SHAPE), deciding)) {          \
                return name##_counted(*found, count_of<Integer>(RONDO_WORDS(SHAPE), deciding, found->ranks),           \
                                      SHAPE(RONDO_ARGUMENT));                                                          \
            }                                                                                                          \
        }                                                                                                              \
        const Words words = RONDO_WORDS(SHAPE);                                                                        \
        LastCall* const own = own_last_calls(table_size());                                                            \
        if (own == nullptr) return name##_once(words, caller);                                                         \
        LastCall& last = own[place];                                                                                   \
        keep_beside(own + name##_first, last, deciding);                                                               \
        last.forget(deciding);                                                                                         \
        return rondo::interposer::serve(words, caller, last);                                                          \
    }                                                                                                                  \
    extern "C" __attribute__((visibility("default"))) int name(SHAPE(RONDO_PARAMETER)) {                               \
        using Function = int (*)(SHAPE(RONDO_PARAMETER));                                                              \
        const Words words = RONDO_WORDS(SHAPE);                                                                        \
        const LastCall& last = kept_in_a_register(last_calls[name##_first + place_of(static_cast<HandleWord>(comm))]); \
        const CallWords deciding = words_of<Integer>(words, last.rank);                                                \
        if (hands_on<Integer>(last, words, deciding)) {                                                                \
            last.left->note(last.reason);                                                                              \
            return reinterpret_cast<Function>(last.native)(SHAPE(RONDO_ARGUMENT));                                     \
        }                                                                                                              \
        return name##_carefully(SHAPE(RONDO_ARGUMENT), __builtin_return_address(0));                                   \
    }

#ifdef RONDO_HAVE_LARGE_COUNT_API
#define RONDO_EXPORT_LARGE(name, serve, SHAPE) RONDO_EXPORT(name, serve, SHAPE, std::int64_t)
#else
#define RONDO_EXPORT_LARGE(name, serve, SHAPE)
#endif

#define RONDO_EXPORTS_WITHOUT_COUNT(function, collective, SHAPE, output) \
    RONDO_EXPORT(MPI_##function, serve_##function, RONDO_##SHAPE, int)   \
    RONDO_EXPORT(PMPI_##function, serve_##function, RONDO_##SHAPE, int)

#define RONDO_EXPORTS(function, collective, SHAPE, output)                      \
    RONDO_EXPORTS_WITHOUT_COUNT(function, collective, SHAPE, output)            \
    RONDO_EXPORT_LARGE(MPI_##function##_c, serve_##function##_c, RONDO_##SHAPE) \
    RONDO_EXPORT_LARGE(PMPI_##function##_c, serve_##function##_c, RONDO_##SHAPE)

RONDO_WRAPPED_FUNCTIONS(RONDO_EXPORTS)
RONDO_FUNCTIONS_WITHOUT_COUNT(RONDO_EXPORTS_WITHOUT_COUNT)

namespace {
constexpr std::size_t functions = __COUNTER__ - functions_before;
constexpr std::size_t table_size() noexcept { return places_beside + places * functions; }
}  // namespace

namespace rondo::interposer {
constinit const LastCall nobodys_last_calls[table_size()];
}
