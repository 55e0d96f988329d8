// SPDX-License-Identifier: BSD-3-Clause
// What a thread remembers of its calls, so that those like them are served straight from the cache. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/word.hpp"
#include "rondo/interposer/left_calls.hpp"

namespace rondo::interposer {

using mpi::HandleWord;
using mpi::Word;

/// The arguments that decide where calls of one function go, as the caller gave them.
struct CacheKey {
    Word comm;
    std::int64_t count;  ///< 0 where each rank has a count of its own
    Word datatype, op;
    std::int64_t root;

    // Compares all words, then branches once.
    friend bool operator==(const CacheKey& a, const CacheKey& b) {
        return (a.other_handles(b) | static_cast<Word>((a.count ^ b.count) | (a.root ^ b.root))) == 0;
    }
    /// 0 if the keys are equal but for count and root.
    [[nodiscard]] Word other_handles(const CacheKey& b) const {
        return (comm ^ b.comm) | (datatype ^ b.datatype) | (op ^ b.op);
    }
};

/// A call of a function on a communicator, and what becomes of the next one like it. Its datatype and operator are
/// predefined, so that their handles cannot come to mean something else.
struct alignas(256) CachedCall {  // places of such a size are found in one instruction
    enum class Way : std::uint8_t { forward, forward_counted, serve };
    static constexpr int not_again = std::numeric_limits<int>::min();

    CacheKey key{};
    /// The epoch in which calls like this one go a way, plus that way; 0: they go none.
    /// `forward`: the library has all calls whose count, or the sum of the counts of `ranks` ranks, is in the interval,
    /// whatever the root. `forward_counted`: the report counts them, too (counting.hpp says where).
    std::uint64_t way_in_epoch = 0;
    /// The rank of this process, for calls whose vector is significant only at the root; -1: not known.
    int rank = -1;
    int ranks = 0;
    void* native = nullptr;  ///< the library's function
    std::int64_t lowest = 0;
    std::uint64_t beyond_lowest = 0;  ///< highest count minus lowest
    /// How many more calls go this way straight from the cache: each takes one, and goes on if the rest is not
    /// negative. nullptr: there is no trial that revalidates.
    std::int32_t* calls_left = nullptr;
    LeftCalls* left = nullptr;  ///< the calls of the collective that were left to the library
    const char* reason = "";
    /// `serve`: carries the call out once more; `input` and `output` may be different. Returns `not_again` if the call
    /// has to be decided anew.
    int (*again)(CachedCall& call, const void* input, void* output) = nullptr;
    alignas(8) std::byte details[120]{};  ///< what has to be known to carry the call out, or to count it
    const void* function = nullptr;       ///< the places of the function; set in a victim

    [[nodiscard]] bool goes(Way way) const { return way_in_epoch == mpi::epoch() + static_cast<std::uint64_t>(way); }
    [[nodiscard]] bool goes_anywhere() const { return way_in_epoch - mpi::epoch() < mpi::epoch_step; }
    /// True if the library has calls like this one whose count fits.
    [[nodiscard]] bool forwards(Way way, const CacheKey& call) const {
        return key.other_handles(call) == 0 && goes(way);
    }
    [[nodiscard]] bool has_count(std::int64_t count) const {
        return static_cast<std::uint64_t>(count) - static_cast<std::uint64_t>(lowest) <= beyond_lowest;
    }
    [[nodiscard]] bool serves(const CacheKey& call) const { return key == call && goes(Way::serve); }

    /// Lets calls like this one go that way from now on.
    void go(Way way, std::int32_t* calls_of_trial) {
        calls_left = calls_of_trial;
        way_in_epoch = mpi::epoch() + static_cast<std::uint64_t>(way);
    }
    void forget(const CacheKey& call) {
        key = call;
        way_in_epoch = 0;
    }
};

/// Counts a call like this one for the trial that revalidates, which has the counter. True if the call goes the same
/// way.
inline bool count_call(const CachedCall& cached) { return cached.calls_left == nullptr || --*cached.calls_left >= 0; }

/// The index of a communicator's place among the places of a function.
inline constexpr std::size_t places = 4;
inline std::size_t place_of(Word comm) { return (comm ^ comm >> 8) % places; }

/// How many calls of this thread Rondo has carried out straight from the cache.
extern RONDO_THREAD_LOCAL constinit std::uint64_t served_again;

/// This thread's table: the victims, then the places of each function. Until a call needs a table of the thread's own,
/// it is a shared one to which nobody writes, and in which no call is found.
inline constexpr std::size_t victims = 32;
extern RONDO_THREAD_LOCAL constinit const CachedCall* cached_calls;
/// This thread's own table, which is made if need be; nullptr if there is no memory.
CachedCall* own_cached_calls() noexcept;

/// Finds a call that had a place until another one took it: a program may make calls of several lengths in turn.
/// nullptr if nothing is kept where `call` would be. All functions of this thread share the victims; the thread has a
/// table. `function`: the places of the function; `in_place`: the entry in the place of `call`, whose rank the key was
/// made for.
CachedCall* find_victim(const void* function, const CachedCall& in_place, const CacheKey& call);
/// Keeps the entry in the place of `call` as a victim, if it goes anywhere straight from the cache, and forgets the
/// victim that is like `call`, which is about to be decided anew and to take the place.
void evict(const void* function, const CachedCall& in_place, const CacheKey& call);

}  // namespace rondo::interposer
