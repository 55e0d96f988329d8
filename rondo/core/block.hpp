// SPDX-License-Identifier: BSD-3-Clause
// The places that steps speak of: a block is a run of elements in one of the three buffers of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rondo {

using Count = std::int64_t;  ///< elements, or bytes where a name says so
using Rank = std::int32_t;

/// A peer that does not exist: that half of an exchange does not happen.
inline constexpr Rank no_rank = -1;

/// The buffers of one rank in one call. `input` is the user's send buffer and is never written; `output` is the user's
/// receive buffer; `scratch` belongs to Rondo. Elements of scratch are undefined until something is written there.
enum class Buffer : std::uint8_t { input, output, scratch };

inline constexpr int buffers = 3;

/// `count` elements from element `first` of a buffer. Sixteen bytes, trivially copyable: blocks are passed by value.
struct Block {
    Count first = 0;
    Count count : 56 = 0;
    Buffer buffer : 8 = Buffer::scratch;

    constexpr Block() = default;
    constexpr Block(Count first_element, Count elements, Buffer in)
        : first(first_element), count(elements & largest_count), buffer(in) {}

    static constexpr Count largest_count = (Count{1} << 55) - 1;

    [[nodiscard]] constexpr Count last() const { return first + count; }  ///< one past the end
    [[nodiscard]] constexpr bool empty() const { return count == 0; }

    /// `part_count` elements starting `offset` elements into this block. The part must lie inside the block.
    [[nodiscard]] constexpr Block part(Count offset, Count part_count) const {
        return {first + offset, part_count, buffer};
    }

    [[nodiscard]] friend constexpr bool operator==(const Block& a, const Block& b) {
        return a.first == b.first && a.count == b.count && a.buffer == b.buffer;
    }
};

static_assert(sizeof(Block) == 16);

[[nodiscard]] constexpr bool overlap(const Block& a, const Block& b) {
    return a.buffer == b.buffer && a.first < b.last() && b.first < a.last();
}

/// "output[0, 7)", for messages.
[[nodiscard]] std::string to_string(const Block& block);

/// A block cut into `size()` consecutive parts: whose counts differ by at most one, the longer ones first; or as
/// `starts` says.
class Parts {
  public:
    constexpr Parts(Block whole, Count size) : whole_(whole), size_(size) {}
    /// Part i is from `starts[i]` to `starts[i + 1]`, relative to the whole: size + 1 numbers, borrowed. If empty, the
    /// parts are even.
    constexpr Parts(Block whole, Count size, std::span<const Count> starts)
        : whole_(whole), size_(size), starts_(starts) {}

    [[nodiscard]] constexpr Count size() const { return size_; }
    [[nodiscard]] constexpr Count largest() const {
        if (starts_.empty()) return size_ == 0 ? 0 : (whole_.count + size_ - 1) / size_;
        Count most = 0;
        for (Count index = 0; index < size_; ++index) most = std::max(most, start(index + 1) - start(index));
        return most;
    }

    [[nodiscard]] constexpr Block operator[](Count index) const { return range(index, index + 1); }

    /// The parts from `first` up to, without, `last`, as one block. Nothing if there are none in between.
    [[nodiscard]] constexpr Block range(Count first, Count last) const {
        return first < last ? whole_.part(start(first), start(last) - start(first)) : Block();
    }

  private:
    [[nodiscard]] constexpr Count start(Count index) const {
        if (!starts_.empty()) return starts_[static_cast<std::size_t>(index)];
        const Count small = whole_.count / size_, longer = whole_.count % size_;  // no product of large counts
        return index * small + (index < longer ? index : longer);
    }

    Block whole_;
    Count size_;
    std::span<const Count> starts_;
};

/// Parts of at most `segment_count` elements each (at least one element); none is empty.
class Segments : public Parts {
  public:
    constexpr Segments(Block whole, Count segment_count)
        : Parts(whole, segment_count < 1 ? whole.count : (whole.count + segment_count - 1) / segment_count) {}

    /// The part, or nothing beyond the ends.
    [[nodiscard]] constexpr Block at(Count index) const {
        return index < 0 || index >= size() ? Block() : (*this)[index];
    }
};

}  // namespace rondo
