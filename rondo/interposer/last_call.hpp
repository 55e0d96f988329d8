// SPDX-License-Identifier: BSD-3-Clause
// The shortest way for calls like the last one: they need no second look. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/interposer/left_calls.hpp"

namespace rondo::interposer {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

/// What decides where calls of one function go, as its caller gave it.
struct CallWords {
    Word comm;
    std::int64_t count;  ///< none where each rank has one
    Word datatype, op;
    std::int64_t root;

    // Without a branch for each word.
    friend bool operator==(const CallWords& a, const CallWords& b) {
        return (a.other_words(b) | static_cast<Word>((a.count ^ b.count) | (a.root ^ b.root))) == 0;
    }
    /// 0 if they are equal but for count and root.
    [[nodiscard]] Word other_words(const CallWords& b) const {
        return (comm ^ b.comm) | (datatype ^ b.datatype) | (op ^ b.op);
    }
};

/// The last call of a function by one thread on a communicator, if the next one like it goes the same way: its datatype
/// and operator are predefined, so that their handles cannot come to mean something else.
struct alignas(256) LastCall {  // places of such a size are found in one instruction
    CallWords words{};
    /// The epoch in which what follows holds, if it went to the library; 0: it did not.
    std::uint64_t handed_on_in = 0;
    /// The library's function. It gets all whose count, or the sum of those of `ranks` ranks, is in between, whatever
    /// the root.
    void* native = nullptr;
    std::int64_t lowest = 0;
    std::uint64_t beyond_lowest = 0;  ///< by so much at most
    int ranks = 0;
    /// This process on the communicator, of calls whose whole vector means something on the root alone; -1: not known.
    int rank = -1;
    /// So many more calls go the same way without a second look, whichever way it is: each takes one, and goes on if
    /// that leaves no less than none. nullptr: there is no trial that comes again.
    std::int32_t* calls_left = nullptr;
    LeftCalls* left = nullptr;  ///< of the collective
    const char* reason = "";
    /// The epoch in which the same holds of a call that the report counts (counting.hpp says where); 0: there is none.
    std::uint64_t counted_in = 0;
    /// The epoch in which what follows holds, if Rondo carried it out; 0: it did not.
    std::uint64_t served_in = 0;
    /// Carries the call out once more: `input` and `output` may be different. `not_again` if they need a second look.
    int (*again)(LastCall& last, const void* input, void* output) = nullptr;
    alignas(8) std::byte served[120]{};  ///< what has to be known to carry the call out, or to count it
    /// The places of the function that this was the last call of, where it is kept beside them.
    const void* function = nullptr;

    static constexpr int not_again = std::numeric_limits<int>::min();

    [[nodiscard]] bool is_handed_on(const CallWords& call) const {
        return words.other_words(call) == 0 && handed_on_in == mpi::epoch();
    }
    [[nodiscard]] bool is_counted(const CallWords& call) const {
        return words.other_words(call) == 0 && counted_in == mpi::epoch();
    }
    [[nodiscard]] bool hands_on(std::int64_t count) const {
        return static_cast<std::uint64_t>(count) - static_cast<std::uint64_t>(lowest) <= beyond_lowest;
    }
    /// Counts a call for the trial that revalidates. True if it goes the same way.
    [[nodiscard]] bool count_call() const { return calls_left == nullptr || --*calls_left >= 0; }
    [[nodiscard]] bool is_served(const CallWords& call) const { return words == call && served_in == mpi::epoch(); }
    void forget(const CallWords& call) {
        words = call;
        handed_on_in = counted_in = served_in = 0;
    }
};

#ifdef RONDO_ABI_MPICH
using HandleWord = std::uint32_t;  // handles are ints
#else
using HandleWord = std::uintptr_t;
#endif

/// Where to remember a call of a function on a communicator, of so many places.
inline constexpr std::size_t places = 4;
inline std::size_t place_of(Word comm) { return (comm ^ comm >> 8) % places; }

/// How many calls of this thread Rondo has carried out without a second look.
extern RONDO_THREAD_LOCAL constinit std::uint64_t served_again;

/// Of this thread: those that are kept beside the last ones, then the places of each function. A table of which nobody
/// writes, and in which no call is found, until its first call needs one. Thread-local memory itself would be taken
/// from the stacks of all threads, also of those that never call MPI.
inline constexpr std::size_t places_beside = 32;
extern RONDO_THREAD_LOCAL constinit const LastCall* last_calls;
/// The same, to write into; nullptr before the first call that needs it.
extern RONDO_THREAD_LOCAL constinit LastCall* written_last_calls;
/// Makes it; nullptr if there is no memory.
LastCall* make_last_calls() noexcept;
inline LastCall* own_last_calls() noexcept {
    if (written_last_calls != nullptr) [[likely]]
        return written_last_calls;
    return make_last_calls();
}

/// A call that was the last one of its function until another took its place, as it is kept for programs that make
/// calls of several lengths in turn; nullptr if nothing is kept where `call` would be. One table for all functions of
/// this thread, which has one. `function`: the places of the function's own; `last`: what stands there, by whose rank
/// `call` was made.
LastCall* kept_beside(const void* function, const LastCall& last, const CallWords& call);
/// Keeps `last` there, if it goes anywhere without a second look, and forgets what is there of `call`, which is about
/// to get its second look and the place of `last`.
void keep_beside(const void* function, const LastCall& last, const CallWords& call);

}  // namespace rondo::interposer
