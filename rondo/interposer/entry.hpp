// SPDX-License-Identifier: BSD-3-Clause
// What an exported symbol does. The symbols are generated (scripts/generate_entries.py). Each argument takes a register
// or, from the seventh on on x86-64, a word of the stack, whatever its type: who is called with these words finds what
// it would have found without Rondo. What is handed on again is handed on in a few instructions, without a frame on the
// stack; all else is in functions of its own. The profiling names are exported, too: Open MPI's Fortran layer calls
// PMPI_, and so do tools, beneath which Rondo stands. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rondo/interposer/counting.hpp"
#include "rondo/interposer/words.hpp"

namespace rondo::interposer {

/// A call that nothing is known about, or not enough. `first_place`: of its symbol.
int serve_unknown(mpi::Function function, const Words& words, const CallWords& deciding, std::size_t first_place,
                  const void* caller);

/// `Signature`: what the MPI_ and the PMPI_ symbol have in common, that is the function, the type of its counts, and
/// its arguments as Words. `number`: of the symbol.
template <class Signature, std::size_t number, class MakeWords = decltype(Signature::words)>
class Entry;

template <class Signature, std::size_t number, class... Arguments>
class Entry<Signature, number, Words(Arguments...)> {
    using Integer = typename Signature::Integer;
    using Native = int (*)(Arguments...);

  public:
    /// What is known of the last call on a communicator.
    static const LastCall& last_call(Word comm) {
        const LastCall* address = &last_calls[first_place + place_of(static_cast<HandleWord>(comm))];
        asm("" : "+r"(address));  // is in a register, and not worked out again
        return *address;
    }

    static constexpr Words words(Arguments... arguments) { return Signature::words(arguments...); }

    /// True if the call goes to the library without a second look.
    static bool hands_on(const LastCall& last, const Words& words) {
        return hands_on(last, words, words.deciding<Integer>(last.rank));
    }

    /// Lets the library have it.
    static int hand_on(const LastCall& last, Arguments... arguments) {
        last.left->note(last.reason);
        return reinterpret_cast<Native>(last.native)(arguments...);
    }

    /// All other calls: of another one than the last that is known, or one that a report counts, or that Rondo has
    /// carried out, or that is not known.
    [[gnu::noinline]] static int carefully(Arguments... arguments, const void* caller) {
        static const auto other = reinterpret_cast<Native>(detour(mpi::symbols[number], caller));
        if (other != nullptr) return other(arguments...);
        const Words words = Signature::words(arguments...);
        const LastCall* const here = last_calls + first_place;
        const LastCall& last = here[place_of(static_cast<HandleWord>(words.comm))];
        const CallWords deciding = words.deciding<Integer>(last.rank);
        if (last.is_served(deciding)) {
            const int error = again(last, words);
            if (error != LastCall::not_again) return error;
        } else if (const LastCall* const known = known_call(here, last, words, deciding); known != nullptr) {
            if (known->is_served(deciding)) {
                const int error = again(*known, words);
                if (error != LastCall::not_again) return error;
            } else if (hands_on(*known, words, deciding)) {
                return hand_on(*known, arguments...);
            } else if (hands_on_counted(*known, words, deciding)) {
                return hand_on_counted(*known, words.count_in_all<Integer>(deciding, known->ranks), arguments...);
            }
        }
        // Words of its own: those above need not be in memory.
        return serve_unknown(Signature::function, Signature::words(arguments...), deciding, first_place, caller);
    }

  private:
    static constexpr std::size_t first_place = places_beside + places * number;

    /// Carries the call out once more.
    static int again(const LastCall& known, const Words& words) {
        auto& own = const_cast<LastCall&>(known);  // of this thread: in nobody's table no call is found
        return known.again(own, words.input_buffer(), words.output_buffer());
    }

    /// The last call if the report counts such, or the one like this that is kept beside it; nullptr if there is none.
    [[gnu::always_inline]] static const LastCall* known_call(const LastCall* here, const LastCall& last,
                                                             const Words& words, const CallWords& deciding) {
        const bool is_last = is_counted(last, words, deciding);
        return is_last ? &last : kept_beside(here, last, deciding);
    }

    [[gnu::always_inline]] static bool hands_on(const LastCall& last, const Words& words, const CallWords& deciding) {
        return last.is_handed_on(deciding) && last.hands_on(words.count_in_all<Integer>(deciding, last.ranks)) &&
               last.count_call();
    }

    [[gnu::always_inline]] static bool is_counted(const LastCall& last, const Words& words, const CallWords& deciding) {
        return last.is_counted(deciding) && last.hands_on(words.count_in_all<Integer>(deciding, last.ranks));
    }

    /// True if the call goes to the library without a second look, and the report counts it.
    [[gnu::always_inline]] static bool hands_on_counted(const LastCall& last, const Words& words,
                                                        const CallWords& deciding) {
        return is_counted(last, words, deciding) && last.count_call();
    }

    [[gnu::noinline]] static int hand_on_counted(const LastCall& last, std::int64_t in_all, Arguments... arguments) {
        const auto native = reinterpret_cast<Native>(last.native);
        const Counting counting(last, in_all);
        last.left->note(last.reason);
        return native(arguments...);
    }
};

}  // namespace rondo::interposer
