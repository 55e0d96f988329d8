// SPDX-License-Identifier: BSD-3-Clause
// What an exported symbol does. The symbols are generated (scripts/generate_entries.py). Each argument takes a register
// or, from the seventh on on x86-64, a word of the stack, whatever its type: a function called with these words finds
// what it would have found without Rondo. Calls that are forwarded again are forwarded in a few instructions, without a
// frame on the stack; all else is in functions of its own. The profiling names are exported, too: Open MPI's Fortran
// layer calls PMPI_, and so do tools, beneath which Rondo stands. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rondo/interposer/counting.hpp"
#include "rondo/interposer/words.hpp"

namespace rondo::interposer {

/// Serves a call that the cache knows nothing about, or not enough. `first_place`: the first place of the call's
/// symbol.
int serve_unknown(mpi::Function function, const Words& words, const CacheKey& key, std::size_t first_place,
                  const void* caller);

/// Serves a call that is not cached.
int serve_once(mpi::Function function, const Words& words, const void* caller);

/// `Signature`: what the MPI_ and the PMPI_ symbol have in common, that is the function, the type of its counts, and
/// its arguments as Words. `number`: the number of the symbol.
template <class Signature, std::size_t number, class MakeWords = decltype(Signature::words)>
class Entry;

template <class Signature, std::size_t number, class... Arguments>
class Entry<Signature, number, Words(Arguments...)> {
    using Integer = typename Signature::Integer;
    using Native = int (*)(Arguments...);

  public:
    /// The entry in the place of calls on a communicator.
    static const CachedCall& cached_call(Word comm) {
        const CachedCall* address = &cached_calls[first_place + place_of(static_cast<HandleWord>(comm))];
        asm("" : "+r"(address));  // is in a register, and not worked out again
        return *address;
    }

    static constexpr Words words(Arguments... arguments) { return Signature::words(arguments...); }

    /// True if the library has the call straight from the cache, and nobody counts it but for a trial.
    static bool forwards(const CachedCall& cached, const Words& words) {
        return forwards(CachedCall::Way::forward, cached, words, words.key<Integer>(cached.rank)) && count_call(cached);
    }

    static int forward(const CachedCall& cached, Arguments... arguments) {
        cached.left->note(cached.reason);
        return reinterpret_cast<Native>(cached.native)(arguments...);
    }

    /// The slow path: victims, calls that a report counts, calls that Rondo carries out, calls that are not known.
    [[gnu::noinline]] static int carefully(Arguments... arguments, const void* caller) {
        static const auto other = reinterpret_cast<Native>(detour(mpi::symbols[number], caller));
        if (other != nullptr) return other(arguments...);
        const Words words = Signature::words(arguments...);
        const CachedCall* const here = cached_calls + first_place;
        const CachedCall& in_place = here[place_of(static_cast<HandleWord>(words.comm))];
        const CacheKey key = words.key<Integer>(in_place.rank);
        const CachedCall* const cached = find(here, in_place, words, key);
        if (cached != nullptr && cached->serves(key)) {
            const int error = again(*cached, words);
            if (error != CachedCall::not_again) return error;
        } else if (cached != nullptr && count_call(*cached)) {
            if (cached->goes(Way::forward)) return forward(*cached, arguments...);
            return forward_counted(*cached, words.count_in_all<Integer>(key, cached->ranks), arguments...);
        }
        // Makes words of its own, so that those above need not be in memory.
        return serve_unknown(Signature::function, Signature::words(arguments...), key, first_place, caller);
    }

    /// Serves a call that nobody repeats often: it is not cached.
    static int once(Arguments... arguments, const void* caller) {
        static const auto other = reinterpret_cast<Native>(detour(mpi::symbols[number], caller));
        return other != nullptr ? other(arguments...)
                                : serve_once(Signature::function, Signature::words(arguments...), caller);
    }

  private:
    using Way = CachedCall::Way;
    static constexpr std::size_t first_place = victims + places * number;

    [[gnu::always_inline]] static bool forwards(Way way, const CachedCall& cached, const Words& words,
                                                const CacheKey& key) {
        return cached.forwards(way, key) && cached.has_count(words.count_in_all<Integer>(key, cached.ranks));
    }

    /// Finds a call like this one that goes somewhere straight from the cache; nullptr if there is none. An entry in
    /// place that is forwarded has been tried before, or is not counted any more.
    [[gnu::always_inline]] static const CachedCall* find(const CachedCall* here, const CachedCall& in_place,
                                                         const Words& words, const CacheKey& key) {
        if (in_place.serves(key) || forwards(Way::forward_counted, in_place, words, key)) return &in_place;
        const CachedCall* const victim = find_victim(here, in_place, key);
        if (victim == nullptr) return nullptr;
        const bool is_like = victim->serves(key) || forwards(Way::forward, *victim, words, key) ||
                             forwards(Way::forward_counted, *victim, words, key);
        return is_like ? victim : nullptr;
    }

    /// Carries the call out once more.
    static int again(const CachedCall& cached, const Words& words) {
        auto& own = const_cast<CachedCall&>(cached);  // this thread's own: in the shared table no call is found
        return cached.again(own, words.input_buffer(), words.output_buffer());
    }

    [[gnu::noinline]] static int forward_counted(const CachedCall& cached, std::int64_t in_all,
                                                 Arguments... arguments) {
        const auto native = reinterpret_cast<Native>(cached.native);
        const Counting counting(cached, in_all);
        cached.left->note(cached.reason);
        return native(arguments...);
    }
};

}  // namespace rondo::interposer
