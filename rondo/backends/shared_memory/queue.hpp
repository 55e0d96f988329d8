// SPDX-License-Identifier: BSD-3-Clause
// How messages pass from one process to another through lines of memory that both see: no lock, no system call.
//
// A message takes one line or several that follow one another in a circle. The writer fills them and publishes them
// with the number in the first one, so the reader polls a line that nobody else writes. What it has read it says in a
// line of its own; the writer looks there only when the circle seems full.
//
// The text is over any memory, so that a test can try every order in which two processes may take their steps.
// `Memory::number(slot)` and `Memory::consumed()` are atomics, or what can be used like references to them.
#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::shared_memory {

/// Lines are counted from 0 for ever; a line lies in the slot of its count modulo the slots. 64 bits do not wrap. The
/// message that begins with line n is there when slot n has the number n + 1.
template <std::uint64_t slots>
class QueueWriter {
  public:
    /// False if there is no room now. `fill(slot, i)` writes line i of the message.
    template <class Memory, class Fill>
    bool push(Memory& memory, std::uint64_t lines, Fill&& fill) {
        if (next_ + lines > consumed_ + slots) {
            consumed_ = memory.consumed().load(std::memory_order_acquire);
            if (next_ + lines > consumed_ + slots) return false;
        }
        for (std::uint64_t i = 0; i < lines; ++i) fill((next_ + i) % slots, i);
        memory.number(next_ % slots).store(next_ + 1, std::memory_order_release);
        next_ += lines;
        return true;
    }

  private:
    std::uint64_t next_ = 0;      // line to write
    std::uint64_t consumed_ = 0;  // as last seen
};

template <std::uint64_t slots>
class QueueReader {
  public:
    template <class Memory>
    [[nodiscard]] bool has_message(Memory& memory) const {
        return memory.number(next_ % slots).load(std::memory_order_acquire) == next_ + 1;
    }

    /// Where line i of the oldest message lies. Only after `has_message`.
    [[nodiscard]] std::uint64_t slot(std::uint64_t i) const { return (next_ + i) % slots; }

    /// The oldest message, of so many lines, has been read.
    template <class Memory>
    void consume(Memory& memory, std::uint64_t lines) {
        next_ += lines;
        memory.consumed().store(next_, std::memory_order_release);
    }

    [[nodiscard]] std::uint64_t next() const { return next_; }

  private:
    std::uint64_t next_ = 0;  // line to read
};

/// The reader of memory that a message refers to says to its writer, in a word that was 0, how many bytes it has read:
/// the memory is the writer's again.
template <class Word>
void tell_read(Word&& word, std::uint64_t bytes) {
    word.store(bytes + 1, std::memory_order_release);
}

template <class Word>
[[nodiscard]] bool is_read(Word&& word) {
    return word.load(std::memory_order_acquire) != 0;
}

/// Only after `is_read`.
template <class Word>
[[nodiscard]] std::uint64_t bytes_read(Word&& word) {
    return word.load(std::memory_order_relaxed) - 1;
}

}  // namespace rondo::shared_memory
