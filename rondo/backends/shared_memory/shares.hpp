// SPDX-License-Identifier: BSD-3-Clause
// How two processes share the copying of one message: each copies what the other has not taken.
//
// The reader takes shares from the front, and reads them in the writer; the writer takes shares from the back,
// while it waits anyway, and writes them into the reader. Shares become shorter towards the end, so both end
// together (Polychronopoulos and Kuck, Guided self-scheduling, IEEE Transactions on Computers, 1987). If one is
// busy elsewhere, the other does it all.
//
// The text is over any memory, as that of the queue is. `taken` and `written` are words that were 0.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace rondo::shared_memory {

/// Part of a message, in bytes; of none if nothing is left to take.
struct Share {
    std::uint64_t first = 0, bytes = 0;
};

/// What both have taken, in granules.
struct Taken {
    std::uint64_t front = 0, back = 0;

    static constexpr unsigned bits = 32;
    static Taken of(std::uint64_t word) { return {word & ((std::uint64_t{1} << bits) - 1), word >> bits}; }
    [[nodiscard]] std::uint64_t word() const { return front | back << bits; }
};

/// A message of so many bytes, of which no share but the last is shorter than `least`, or longer than `most`.
class Shares {
  public:
    static constexpr std::uint64_t granule = 4096;
    /// A system call takes as long as it copies so much.
    static constexpr std::uint64_t least = std::uint64_t{32} << 10;
    static constexpr std::uint64_t most = std::uint64_t{256} << 10;

    explicit Shares(std::uint64_t bytes) : bytes_(bytes), granules_((bytes + granule - 1) / granule) {}

    /// For the reader, who is told what is there.
    template <class Word>
    [[nodiscard]] Share take_front(Word&& taken) const {
        return take(taken, [&](const Taken& now, std::uint64_t count) {
            return Step{{now.front + count, now.back}, now.front};
        });
    }
    /// For the writer.
    template <class Word>
    [[nodiscard]] Share take_back(Word&& taken) const {
        return take(taken, [&](const Taken& now, std::uint64_t count) {
            return Step{{now.front, now.back + count}, granules_ - now.back - count};
        });
    }
    /// The writer could not write what it has taken last.
    template <class Word>
    void give_back(Word&& taken, const Share& share) const {
        change(taken, [&](const Taken& now) { return Taken{now.front, now.back - granules_of(share)}; });
    }
    /// The writer has written it.
    template <class Word>
    void note_written(Word&& written, const Share& share) const {
        written.store(written.load(std::memory_order_relaxed) + granules_of(share), std::memory_order_release);
    }

    /// The reader takes all that nobody has taken, and leaves it. True if the writer writes nothing any more.
    template <class Word>
    [[nodiscard]] bool close(Word&& taken, Word&& written) const {
        const Taken now =
            change(taken, [&](const Taken& before) { return Taken{granules_ - before.back, before.back}; });
        return written.load(std::memory_order_acquire) == now.back;
    }
    /// What has been taken is there: the reader has read all that it has taken.
    template <class Word>
    [[nodiscard]] bool is_complete(Word&& taken, Word&& written) const {
        const Taken now = Taken::of(taken.load(std::memory_order_relaxed));
        return now.front + now.back == granules_ && written.load(std::memory_order_acquire) == now.back;
    }

  private:
    struct Step {
        Taken taken;
        std::uint64_t first;  // granule
    };

    [[nodiscard]] static std::uint64_t granules_of(const Share& share) { return (share.bytes + granule - 1) / granule; }

    template <class Word, class Next>
    Share take(Word& taken, Next&& next) const {
        std::uint64_t word = taken.load(std::memory_order_relaxed);
        for (;;) {
            const Taken now = Taken::of(word);
            const std::uint64_t rest = granules_ - now.front - now.back;
            if (rest == 0) return {};
            const std::uint64_t count = std::min(rest, std::clamp((rest + 1) / 2, least / granule, most / granule));
            const Step step = next(now, count);
            if (taken.compare_exchange_strong(word, step.taken.word(), std::memory_order_relaxed)) {
                const std::uint64_t first = step.first * granule;
                return {first, std::min(count * granule, bytes_ - first)};
            }
        }
    }
    template <class Word, class Next>
    Taken change(Word& taken, Next&& next) const {
        std::uint64_t word = taken.load(std::memory_order_relaxed);
        for (;;) {
            const Taken changed = next(Taken::of(word));
            if (taken.compare_exchange_strong(word, changed.word(), std::memory_order_relaxed)) return changed;
        }
    }

    std::uint64_t bytes_, granules_;
};

}  // namespace rondo::shared_memory
