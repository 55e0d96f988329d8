// SPDX-License-Identifier: BSD-3-Clause
// What an exported symbol of the profiler does. There is one for each function that <mpi.h> declares, by both names;
// they are generated (scripts/profiled_functions.py). Open MPI's Fortran layer calls PMPI_, and so do tools that are
// loaded before this library; what a tool behind it calls is the tool's business, and not counted again. Each argument
// takes a register or, from the seventh on on x86-64, a word of the stack, whatever its type: who is called with these
// words finds what it would have found without Rondo.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "rondo/profiler/recorder.hpp"
#include "rondo/profiler/requests.hpp"
#include "rondo/profiler/roles.hpp"

namespace rondo::profiler {

/// The arguments of a call by their names in rondo/mpi_functions.txt; of a nonblocking one, where its request is.
struct Words {
    Word input = 0, input_count = 0, input_counts = 0, input_displacements = 0, input_type = 0, input_types = 0,
         part_count = 0, part_type = 0, buffer = 0, output = 0, count = 0, counts = 0, displacements = 0, datatype = 0,
         types = 0, op = 0, root = 0, comm = 0, request = 0;
};

/// The function behind a symbol, which is looked up in the first call.
struct Behind {
    const char* symbol;
    std::atomic<void*> function{nullptr};

    /// nullptr before the first call.
    template <class... Arguments>
    [[nodiscard, gnu::always_inline]] auto known() const {
        return reinterpret_cast<int (*)(Arguments...)>(function.load(std::memory_order_relaxed));
    }
    template <class... Arguments>
    [[gnu::always_inline]] auto find(const void* caller) {
        if (function.load(std::memory_order_relaxed) == nullptr) [[unlikely]]
            function.store(function_behind(symbol, caller), std::memory_order_relaxed);
        return known<Arguments...>();
    }
};

/// Times a call. Roles have their part in calls of MPI functions by MPI functions, too.
template <class Role, class... Arguments>
[[gnu::always_inline]] inline int time_call(int (*function)(Arguments...), std::uint32_t number,
                                            Arguments... arguments) {
    if constexpr (Role::is_of_requests) {
        if (open_requests.load(std::memory_order_relaxed) == 0) [[likely]]
            return time_call<role::Nothing>(function, number, arguments...);
    }
    if (!recorder.on) return function(arguments...);
    const Word words[] = {arguments..., 0};
    constexpr auto count = static_cast<std::uint32_t>(sizeof...(arguments));
    if constexpr (std::is_same_v<Role, role::Nothing>) {
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

/// A function that is only timed. `number`: of the function.
template <class Role, class... Arguments>
[[gnu::always_inline]] inline int timed(Behind& behind, std::uint32_t number, const void* caller,
                                        Arguments... arguments) {
    return time_call<Role>(behind.find<Arguments...>(caller), number, arguments...);
}

/// A symbol that Fortran calls. What is behind it calls one of C in turn, which would take the library for its caller.
template <class... Arguments>
[[gnu::always_inline]] inline int called_by_fortran(Behind& behind, const void* caller, Arguments... arguments) {
    const auto function = behind.find<Arguments...>(caller);
    if (!records() || thread.fortran_caller != nullptr) return function(arguments...);
    thread.fortran_caller = caller;
    const int unused = function(arguments...);  // a subroutine
    thread.fortran_caller = nullptr;
    return unused;
}

/// A collective. `Signature`: what its MPI_ and PMPI_ symbol have in common, that is its number, that of its blocking
/// form without large counts, whether it blocks, the type of its counts, what its arguments say of lengths, whether it
/// has a root, and its arguments as Words.
template <class Signature, class MakeWords = decltype(Signature::words)>
class Collective;

template <class Signature, class... Arguments>
class Collective<Signature, Words(Arguments...)> {
  public:
    /// A call like one that the thread has made before is counted in few instructions.
    [[gnu::always_inline]] static int enter(Behind& behind, const void* caller, Arguments... arguments) {
        const auto function = behind.known<Arguments...>();
        const Call call = call_of(Signature::words(arguments...), caller, 0);
        std::uint64_t bytes = 0;
        const Slot& slot = place_of(call);
        if (function == nullptr || thread.inside || !slot.holds(call, bytes)) [[unlikely]]
            return carefully(arguments..., behind, caller);
        const Inside inside(processor_ticks());
        const int error = function(arguments...);
        count_directly(slot, bytes, inside.entry());
        remember(slot, error, arguments...);
        return error;
    }

  private:
    /// All other calls.
    [[gnu::noinline]] static int carefully(Arguments... arguments, Behind& behind, const void* caller) {
        const auto function = behind.find<Arguments...>(caller);
        if (!records()) return function(arguments...);
        const Word frames = recorder.directly ? 0 : (recorder.python ? python_frames() : 0) | 1U;
        const Call call = call_of(Signature::words(arguments...), caller, frames);
        std::uint64_t bytes = 0;
        const Slot& slot = slot_for(call, bytes);
        const Inside inside;
        const int error = function(arguments...);
        count_carefully(slot, bytes, inside.entry());
        remember(slot, error, arguments...);
        return error;
    }

    [[gnu::always_inline]] static Call call_of(const Words& words, const void* caller, Word frames) {
        using Integer = typename Signature::Integer;
        return {.function = Signature::number,
                .base = Signature::base,
                .blocks = Signature::blocks,
                .comm = static_cast<HandleWord>(words.comm),
                .datatype = static_cast<HandleWord>(words.datatype),
                .part_type = static_cast<HandleWord>(words.part_type),
                .op = static_cast<HandleWord>(words.op),
                .root = Signature::has_root ? static_cast<std::int32_t>(words.root) : -1,
                .count = static_cast<Integer>(words.count),
                .part_count = static_cast<Integer>(words.part_count),
                .counts = std::bit_cast<const void*>(words.counts),
                .counts_are_ints = std::is_same_v<Integer, int>,
                .lengths = Signature::lengths,
                .caller = thread.fortran_caller != nullptr ? thread.fortran_caller : caller,
                .frames = frames};
    }

    /// What is seen of a nonblocking call's request later belongs to its line.
    [[gnu::always_inline]] static void remember(const Slot& slot, int error, Arguments... arguments) {
        if constexpr (!Signature::blocks) {
            const Word request = Signature::words(arguments...).request;
            if (error == 0) remember_request(*std::bit_cast<const HandleWord*>(request), slot.line);
        }
    }
};

}  // namespace rondo::profiler
