// SPDX-License-Identifier: BSD-3-Clause
// What happens in each call that is profiled, in few instructions. Without <mpi.h>, whose declarations of functions
// those of entries.cpp would contradict.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/word.hpp"
#include "rondo/profiler/clock.hpp"
#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

using mpi::HandleWord;
using mpi::Word;

/// How the length of a call's vector is known.
struct Lengths {
    enum class Of : std::uint8_t { nothing, count, counts } of;
    bool of_a_part_elsewhere = false;  ///< on all ranks but the root
};

/// What the arguments of a collective are, without the bits that mean nothing.
struct Call {
    std::uint32_t function;
    std::uint32_t base;  ///< the function in its blocking form, without _c
    bool blocks;
    Word comm = 0, datatype = 0, part_type = 0, op = 0;
    std::int32_t root = -1;
    std::int64_t count = 0, part_count = 0;
    const void* counts = nullptr;
    bool counts_are_ints = true;
    Lengths lengths = {Lengths::Of::nothing};
    const void* caller = nullptr;
    Word frames = 0;  ///< of Python, hashed; 0 where the shortest way will do, and never else
};

/// Where to count calls like one that was seen.
struct alignas(128) Slot {
    std::uint64_t epoch = 0;
    Word comm, datatype, part_type, op, caller;
    Word frames;  ///< see Call
    std::uint32_t function;
    std::int32_t root;
    std::int64_t factor;      ///< bytes for each of the count, or counts
    std::uint64_t low, span;  ///< the class of size: from `low` to `low + span` bytes. Without a line, none
    Line* line;               ///< nullptr: there is no room for it
    std::uint32_t* counter;   ///< nullptr: not sampled
    std::uint32_t instance, counter_number;
    std::int32_t ranks;  ///< whose counts are added up
    bool by_part;

    /// What a function has no argument for is constant where its call is made, and the same in all of its slots.
    [[nodiscard, gnu::always_inline]] bool fits(const Call& call) const {
        Word words = (comm ^ call.comm) | (datatype ^ call.datatype) | (caller ^ std::bit_cast<Word>(call.caller)) |
                     (frames ^ call.frames) | (function ^ call.function) | (epoch ^ mpi::epoch());
        if (__builtin_constant_p(call.part_type) == 0) words |= part_type ^ call.part_type;
        if (__builtin_constant_p(call.op) == 0) words |= op ^ call.op;
        if (__builtin_constant_p(call.root) == 0) words |= static_cast<std::uint32_t>(root ^ call.root);
        return words == 0;
    }
    /// Of the call's vector, or of all counts together.
    [[nodiscard, gnu::always_inline]] std::int64_t length_of(const Call& call) const {
        if (call.lengths.of_a_part_elsewhere && by_part) return call.part_count;
        if (call.lengths.of != Lengths::Of::counts) return call.count;
        if (call.counts == nullptr) return 0;
        std::int64_t sum = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            sum += call.counts_are_ints ? static_cast<const int*>(call.counts)[rank]
                                        : static_cast<const std::int64_t*>(call.counts)[rank];
            asm("" : "+r"(sum));  // no vectors, which would not pay for a few ranks
        }
        return sum;
    }
    /// Whether the call is one of those, and its bytes.
    [[nodiscard, gnu::always_inline]] bool holds(const Call& call, std::uint64_t& bytes) const {
        if (!fits(call)) return false;
        bytes = static_cast<std::uint64_t>(length_of(call) * factor);
        return bytes - low <= span;
    }
};

/// What a thread knows.
struct Thread {
    bool inside = false;                   ///< a function of MPI; those that it calls are its own business
    const void* fortran_caller = nullptr;  ///< of the Fortran function that the thread is in
    struct Type {
        std::uint64_t epoch = 0;
        Word handle = 0;
        std::int64_t size = 0;
    };
    std::array<Type, 8> types{};
    std::array<Slot, 128> slots{};
    std::uint32_t next_way = 0;
};

inline RONDO_THREAD_LOCAL constinit Thread thread{};

/// Set once, in MPI_Init.
struct Recorder {
    bool on = false;
    bool directly = false;         ///< and the shortest way will do: no threads, no Python, and the processor's clock
    bool several_threads = false;  ///< call MPI at the same time
    bool python = false;
    Image* image = nullptr;
};
extern Recorder recorder;

inline void add(std::uint64_t& counter, std::uint64_t value) {
    if (recorder.several_threads) [[unlikely]]
        std::atomic_ref(counter).fetch_add(value, std::memory_order_relaxed);
    else counter += value;
}

/// Time of an MPI function that a thread calls.
class Inside {
  public:
    explicit Inside(Ticks entry = ticks()) : entry_(entry) { thread.inside = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { thread.inside = false; }  // also if an error handler throws

    [[nodiscard]] Ticks entry() const { return entry_; }

  private:
    Ticks entry_;
};

inline bool records() { return recorder.on && !thread.inside; }

void look_up_type(Thread::Type& type, Word word);

inline std::int64_t size_of_type(Word handle) {
    Thread::Type& type = thread.types[(handle ^ handle >> 8) % thread.types.size()];
    if (type.handle != handle || type.epoch != mpi::epoch()) [[unlikely]]
        look_up_type(type, handle);
    return type.size;
}

/// Counts a call of a function that is only timed. `own_part` says what of its time is its own.
template <class OwnPart>
[[gnu::always_inline]] inline void count_call(std::uint32_t function, Ticks entry, std::uint64_t bytes,
                                              OwnPart&& own_part) {
    const Ticks exit = ticks();
    Function& counts = recorder.image->functions[function];
    add(counts.calls, 1);
    add(counts.ticks, own_part(exit - entry));
    if (bytes != 0) add(counts.bytes, bytes);
    recorder.image->header.last = exit;
}

void keep_sample(const Slot& slot, std::uint32_t number, Ticks entry, Ticks exit);
/// Where to count a call, and its bytes: also if the place is another call's, or nobody has seen the like yet.
const Slot& slot_for(const Call& call, std::uint64_t& bytes);
/// Counts a call of a collective that has ended.
void count_carefully(const Slot& slot, std::uint64_t bytes, Ticks entry);

/// See all_sampled.
inline bool is_sampled(std::uint32_t number) {
    if (number < all_sampled) return true;
    // The first bits must be 0: one more of them each time that the share is halved.
    return number * 0x9E3779B1U >> std::countl_zero(number / all_sampled | 1U) == 0;
}

/// Where a call is remembered, if no other call is.
[[gnu::always_inline]] inline Slot& place_of(const Call& call) {
    const auto width = static_cast<Word>(std::countl_zero(static_cast<std::uint64_t>(call.count) | 1U));
    const Word mixed = std::bit_cast<Word>(call.caller) * 5 + call.frames + (call.comm ^ call.comm >> 8) + width * 11;
    Slot* place = &thread.slots[(mixed ^ mixed >> 7) % thread.slots.size()];
    asm("" : "+r"(place));  // its address is not worked out again
    return *place;
}

/// Counts a call of a collective that has ended, the shortest way.
[[gnu::always_inline]] inline void count_directly(const Slot& slot, std::uint64_t bytes, Ticks entry) {
    const Ticks exit = processor_ticks();
    recorder.image->header.last = exit;
    Line& line = *slot.line;
    line.bytes += bytes;
    line.ticks += exit - entry;
    ++line.calls;
    if (bytes < line.smallest) [[unlikely]]
        line.smallest = bytes;
    if (bytes > line.largest) [[unlikely]]
        line.largest = bytes;
    if (slot.counter == nullptr) return;
    const std::uint32_t number = (*slot.counter)++;
    if (is_sampled(number)) [[unlikely]]
        keep_sample(slot, number, entry, exit);
}

/// A communicator that a function has made.
void note_communicator(HandleWord word, const char* made_by);
/// One that has another name now.
void rename_communicator(HandleWord word);
/// One that a function is about to make.
void announce_communicator(HandleWord word, const char* made_by);
/// One that was freed.
void forget_communicator(HandleWord word);
/// The frames of Python that the thread is in, hashed; 0 for none.
Word python_frames();

/// The name that this function has.
const char* name_of(std::uint32_t function);
std::uint32_t functions();

/// The function behind this library's own; never nullptr.
void* function_behind(const char* name, const void* caller);

}  // namespace rondo::profiler
