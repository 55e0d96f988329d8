// SPDX-License-Identifier: BSD-3-Clause
// What a thread remembers of its calls, so that those like them need no second look. Without <mpi.h>.
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

/// What decides where calls of one function go, as the caller gave it.
struct CacheKey {
    Word comm;
    std::int64_t count;  ///< none where each rank has one
    Word datatype, op;
    std::int64_t root;

    // Without a branch for each word.
    friend bool operator==(const CacheKey& a, const CacheKey& b) {
        return (a.other_handles(b) | static_cast<Word>((a.count ^ b.count) | (a.root ^ b.root))) == 0;
    }
    /// 0 if they are equal but for count and root.
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
    /// The epoch in which the call goes a way, plus that way; 0: none.
    /// `forward`: the library has all calls whose count, or the sum of those of `ranks` ranks, is in between, whatever
    /// the root. `forward_counted`: the report counts them, too (counting.hpp says where).
    std::uint64_t way_in_epoch = 0;
    /// This process on the communicator, of calls whose whole vector means something on the root alone; -1: not known.
    int rank = -1;
    int ranks = 0;
    void* native = nullptr;  ///< the library's function
    std::int64_t lowest = 0;
    std::uint64_t beyond_lowest = 0;  ///< by so much at most
    /// So many more calls go the same way without a second look, whichever way it is: each takes one, and goes on if
    /// that leaves no less than none. nullptr: there is no trial that revalidates.
    std::int32_t* calls_left = nullptr;
    LeftCalls* left = nullptr;  ///< of the collective
    const char* reason = "";
    /// `serve`: carries the call out once more; `input` and `output` may be different. `not_again` if they need a
    /// second look.
    int (*again)(CachedCall& call, const void* input, void* output) = nullptr;
    alignas(8) std::byte details[120]{};  ///< what has to be known to carry the call out, or to count it
    const void* function = nullptr;       ///< the places of the function, where it is a victim

    [[nodiscard]] bool goes(Way way) const { return way_in_epoch == mpi::epoch() + static_cast<std::uint64_t>(way); }
    [[nodiscard]] bool goes_anywhere() const { return way_in_epoch - mpi::epoch() < mpi::epoch_step; }
    /// The library has calls like this one, if it has their count.
    [[nodiscard]] bool forwards(Way way, const CacheKey& call) const {
        return key.other_handles(call) == 0 && goes(way);
    }
    [[nodiscard]] bool has_count(std::int64_t count) const {
        return static_cast<std::uint64_t>(count) - static_cast<std::uint64_t>(lowest) <= beyond_lowest;
    }
    [[nodiscard]] bool serves(const CacheKey& call) const { return key == call && goes(Way::serve); }

    /// From now on.
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

/// Where to remember a call of a function on a communicator, of so many places.
inline constexpr std::size_t places = 4;
inline std::size_t place_of(Word comm) { return (comm ^ comm >> 8) % places; }

/// How many calls of this thread Rondo has carried out without a second look.
extern RONDO_THREAD_LOCAL constinit std::uint64_t served_again;

/// Of this thread: the victims, then the places of each function. A table of which nobody writes, and in which no call
/// is found, until its first call needs one. Thread-local memory itself would be taken from the stacks of all threads,
/// also of those that never call MPI.
inline constexpr std::size_t victims = 32;
extern RONDO_THREAD_LOCAL constinit const CachedCall* cached_calls;
/// The same, to write into; nullptr before the first call that needs it.
extern RONDO_THREAD_LOCAL constinit CachedCall* written_cached_calls;
/// Makes it; nullptr if there is no memory.
CachedCall* make_cached_calls() noexcept;
inline CachedCall* own_cached_calls() noexcept {
    if (written_cached_calls != nullptr) [[likely]]
        return written_cached_calls;
    return make_cached_calls();
}

/// A call that had a place until another one took it, as it is kept for programs that make calls of several lengths in
/// turn; nullptr if nothing is kept where `call` would be. One table for all functions of this thread, which has one.
/// `function`: the places of the function; `in_place`: what stands where `call` should, by whose rank it was made.
CachedCall* find_victim(const void* function, const CachedCall& in_place, const CacheKey& call);
/// Keeps what stands in the place of `call` as a victim, if it goes anywhere without a second look, and forgets the
/// victim that is like `call`, which is about to get its second look and the place.
void evict(const void* function, const CachedCall& in_place, const CacheKey& call);

}  // namespace rondo::interposer
