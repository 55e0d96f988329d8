// SPDX-License-Identifier: BSD-3-Clause
// Slots: places of equal length for parts of any length, so that ranks can pass on parts whose lengths they do not
// know.
#pragma once

#include "rondo/core/call.hpp"

namespace rondo {

/// The slots of a plan. They are all that its scratch has from `first` on, and there each block of a message is a run
/// of them; the first ones are for the parts that this rank sends (LocalFacts::outgoing). A slot begins with the length
/// of its part, which whoever carries out the plan writes and reads: so a message has the parts without what is behind
/// them. Sending slots spoils them: in a plan, a send of slots writes its block, too.
struct Slots {
    static constexpr Count header_bytes = 4;

    Count first = 0;   ///< element of scratch
    Count header = 0;  ///< elements of a slot before its part
    Count stride = 0;  ///< elements of a slot; 0: there are no slots

    [[nodiscard]] constexpr Count longest() const { return stride - header; }
    [[nodiscard]] constexpr bool hold(const Block& block) const {
        return stride > 0 && block.buffer == Buffer::scratch && block.first >= first;
    }
    /// Is the block a run of slots?
    [[nodiscard]] constexpr bool are(const Block& block) const {
        return (block.first - first) % stride == 0 && block.count % stride == 0;
    }
    /// The part in the slot with a number, of so many elements.
    [[nodiscard]] constexpr Block part(Block slots, Rank number, Count count) const {
        return slots.part(number * stride + header, count);
    }
};

/// The slots of a call. Its scratch begins with a copy of the input if that is in place, and goes on with the slots.
[[nodiscard]] inline Slots slots_of(const Call& call, Count longest) {
    const Count header = (Slots::header_bytes + call.facts().element_bytes - 1) / call.facts().element_bytes;
    return {.first = call.in_place() ? call.input().count : 0, .header = header, .stride = header + longest};
}

}  // namespace rondo
