// SPDX-License-Identifier: BSD-3-Clause
// The passes of prefix.hpp. A part of level.hpp, whose rule about linkage holds here.
//
// A sum of eight elements waits for seven others, but the sums of different blocks do not wait for each other: the
// processor works on several at a time, and only one addition to a block is on the way from block to block. So memory
// sets the pace, and no instruction set changes the order of additions.
#pragma once

#include "rondo/kernels/prefix.hpp"

namespace rondo::kernels {
namespace {

template <class T>
constexpr bool is_number = kind_of<T> == Kind::integer || kind_of<T> == Kind::floating;

constexpr bool has_passes(Operation operation) { return is_arithmetic(operation) || is_ordering(operation); }

/// Asks for what will be read soon. The many instructions for a block keep the processor from seeing far ahead by
/// itself.
template <class T>
void ask_ahead(const Cell<T>* from) {
    constexpr std::size_t ahead_bytes = 1536;
    __builtin_prefetch(reinterpret_cast<const char*>(from) + ahead_bytes);
}

/// The sum of `count` elements, of which there is one, in the order of a block.
template <Operation operation, class T>
T sum_of_block(const Cell<T>* from, std::size_t count) {
    T sum = from[0].content;
    for (std::size_t i = 1; i < count; ++i) sum = combine<operation>(sum, from[i].content);
    return sum;
}

template <Operation operation, class T>
void reduce_pass(const void* array, std::size_t count, void* result, bool any) {
    const auto* from = static_cast<const Cell<T>*>(array);
    auto* const kept = static_cast<Cell<T>*>(result);
    if (count == 0) return;
    std::size_t done = 0;
    if (!any) {
        done = count < prefix_block ? count : prefix_block;
        kept->content = sum_of_block<operation>(from, done);
    }
    T sum = kept->content;
    for (; done + prefix_block <= count; done += prefix_block) {
        ask_ahead(from + done);
        sum = combine<operation>(sum, sum_of_block<operation>(from + done, prefix_block));
    }
    if (done < count) sum = combine<operation>(sum, sum_of_block<operation>(from + done, count - done));
    kept->content = sum;
}

/// The local sums of a block, which begins behind the sum `before`.
template <Operation operation, class T>
T scan_block(const Cell<T>* from, T* sums, std::size_t count, T before) {
    T inside = from[0].content;
    T sum = sums[0] = combine<operation>(before, inside);
    for (std::size_t i = 1; i < count; ++i) {
        inside = combine<operation>(inside, from[i].content);
        sum = sums[i] = combine<operation>(before, inside);
    }
    return sum;
}

/// Sums that have been read completely when the first of them is written. Few: the longer reading and writing take
/// turns, the less do they overlap.
constexpr std::size_t tile_bytes = 512;

/// The local sums of a tile. `sum`: of what comes before, if `any` does. Returns the new one.
template <Operation operation, class T>
[[gnu::noinline]] T scan_tile(const Cell<T>* from, T* sums, std::size_t count, T sum, bool any) {
    std::size_t done = 0;
    if (!any) {
        done = count < prefix_block ? count : prefix_block;
        sum = sums[0] = from[0].content;
        for (std::size_t i = 1; i < done; ++i) sum = sums[i] = combine<operation>(sum, from[i].content);
    }
    for (; done + prefix_block <= count; done += prefix_block) {
        ask_ahead(from + done);
        sum = scan_block<operation>(from + done, sums + done, prefix_block, sum);
    }
    return done < count ? scan_block<operation>(from + done, sums + done, count - done, sum) : sum;
}

/// into = prefix (+) sums.
template <Operation operation, class T>
[[gnu::noinline]] void put_behind(const Cell<T>* prefix, const T* sums, Cell<T>* into, std::size_t count) {
    if (prefix == nullptr) {
        RONDO_INDEPENDENT_ITERATIONS
        for (std::size_t i = 0; i < count; ++i) into[i].content = sums[i];
        return;
    }
    const T first = prefix->content;
    RONDO_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) into[i].content = combine<operation>(first, sums[i]);
}

#ifdef __SSE2__
/// Results on their way past the caches: whole lines go, the rest waits for more.
template <class T>
class Lines {
  public:
    static bool fit(const void* into) { return reinterpret_cast<std::uintptr_t>(into) % sizeof(T) == 0; }

    explicit Lines(Cell<T>* into)
        : skipped_(reinterpret_cast<std::uintptr_t>(into) % line_bytes / sizeof(T)), waiting_(skipped_),
          into_(into - skipped_) {}

    /// Where so many more may be put, at most a tile.
    Cell<T>* room() { return lines_ + waiting_; }
    void put(std::size_t count) {
        waiting_ += count;
        std::size_t first = 0;
        if (skipped_ > 0 && waiting_ >= in_line) {  // the first line is not all ours
            write(skipped_, in_line);
            skipped_ = 0;
            first = in_line;
        }
        if (skipped_ > 0) return;
        const std::size_t whole = waiting_ / in_line * in_line;
        if (whole > first) {
            store_past_caches(reinterpret_cast<const unsigned char*>(lines_ + first),
                              reinterpret_cast<unsigned char*>(into_ + first), (whole - first) * sizeof(T));
        }
        for (std::size_t i = whole; i < waiting_; ++i) lines_[i - whole] = lines_[i];
        into_ += whole;
        waiting_ -= whole;
    }
    void finish() {
        write(skipped_, waiting_);
        _mm_sfence();  // as in combine_streaming
    }

  private:
    static constexpr std::size_t in_line = line_bytes / sizeof(T);

    void write(std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) into_[i] = lines_[i];
    }

    std::size_t skipped_, waiting_;
    Cell<T>* into_;  // a line
    alignas(line_bytes) Cell<T> lines_[(tile_bytes + line_bytes) / sizeof(T)];
};
#endif

template <Operation operation, class T>
void scan_pass(const void* array, void* result, std::size_t count, const PrefixPass& pass) {
    constexpr std::size_t tile = tile_bytes / sizeof(T) / prefix_block * prefix_block;
    const auto* from = static_cast<const Cell<T>*>(array);
    auto* into = static_cast<Cell<T>*>(result);
    auto* const kept = static_cast<Cell<T>*>(pass.sum);
    const auto* const prefix = static_cast<const Cell<T>*>(pass.prefix);
    T sums[tile + 1];  // behind the sum of all before
    bool any = pass.any;
    sums[0] = any ? kept->content : T{};
    const auto each_tile = [&](auto&& put) {
        for (; count > 0; any = true) {
            const std::size_t now = count < tile ? count : tile;
            const T sum = scan_tile<operation>(from, sums + 1, now, sums[0], any);
            put(now);
            sums[0] = sum;
            from += now, into += now, count -= now;
        }
    };
    const T* const shown = pass.exclusive ? sums : sums + 1;
    // The first of an exclusive sum has nothing of this array in front of it.
    const auto first_stands_alone = [&] { return pass.exclusive && !any; };
#ifdef __SSE2__
    // Lines of 16 bytes an element: long doubles have none of their own in every tile.
    if constexpr (line_bytes % sizeof(T) == 0 && sizeof(T) <= 8) {
        if (pass.past_caches && array != result && Lines<T>::fit(into) && count > 0) {
            Lines<T> lines(into);
            each_tile([&](std::size_t now) {
                Cell<T>* const room = lines.room();
                put_behind<operation>(prefix, shown, room, now);
                if (first_stands_alone()) room[0] = prefix != nullptr ? *prefix : into[0];
                lines.put(now);
            });
            lines.finish();
            kept->content = sums[0];
            return;
        }
    }
#endif
    if (count == 0) return;
    each_tile([&](std::size_t now) {
        if (first_stands_alone()) {
            if (prefix != nullptr) into[0] = *prefix;
            put_behind<operation>(prefix, shown + 1, into + 1, now - 1);
        } else {
            put_behind<operation>(prefix, shown, into, now);
        }
    });
    kept->content = sums[0];
}

template <Operation operation, class T>
constexpr PrefixKernels passes_or_null() {
    if constexpr (is_number<T> && has_passes(operation)) {
        using Number = typename Representation<operation, T>::Type;
        return {&reduce_pass<operation, Number>, &scan_pass<operation, Number>};
    } else {
        return {};
    }
}

}  // namespace
}  // namespace rondo::kernels
