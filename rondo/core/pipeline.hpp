// SPDX-License-Identifier: BSD-3-Clause
// What pipelined algorithms share: the segment parameter, and how much scratch a stream of segments needs.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/quantity_text.hpp"

namespace rondo {

inline constexpr Parameter segment_parameter = {
    .name = "segment",
    .summary = "bytes of a pipeline's block (rounded down to whole elements, at least one; of a shorter vector, all)",
    .minimum = 1,
    .maximum = Count{1} << 40,
    .standard = Count{32} << 10,
    .unit = Unit::bytes,
    .automatic = true,
};

inline constexpr Count most_segments = Count{1} << 17;  // a plan of some 20 MiB

/// Into how many segments of this many bytes a vector is cut.
[[nodiscard]] constexpr Count segments_of(const SharedFacts& facts, Count segment_bytes) {
    const Count per_segment = std::max<Count>(1, segment_bytes / std::max<Count>(1, facts.element_bytes));
    return facts.count == 0 ? 0 : (facts.count - 1) / per_segment + 1;
}

/// Refuses segments so short that the plan would take more memory than the pipeline saves time. One that is longer than
/// the vector is the whole vector. What is still automatic is not refused.
inline std::optional<std::string> unfit_segment(const SharedFacts& facts, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.name != segment_parameter.name || setting.value == automatic || facts.count == 0) continue;
        if (segments_of(facts, setting.value) > most_segments) {
            return "segment=" + quantity_text(setting.value) + " cuts " + std::to_string(facts.bytes()) +
                   " bytes into more than " + std::to_string(most_segments) + " segments";
        }
    }
    return std::nullopt;
}

inline constexpr Requirement segment_requirement = {"at most 131072 segments", unfit_segment};

/// Scratch for a stream of segments: room for a few, used in turn. A slot is free again when the transfer from eight
/// segments ago is over; executors keep no more under way, so little waits for it, and the slots stay in cache.
class SegmentRing {
  public:
    SegmentRing(const Call& call, const Segments& segments) : SegmentRing(call, segments, segments.size()) {}

    /// For a stream in which segments may come several times: `uses` of them in all.
    SegmentRing(const Call& call, const Segments& segments, Count uses)
        : slots_(std::min(most_slots, uses)), slot_count_(segments.largest()),
          ring_(call.scratch(slots_ * slot_count_)) {}

    /// The slot of the segment with this number in the stream, as long as `like`.
    [[nodiscard]] Block slot(Count number, Block like) const {
        return ring_.part(number % slots_ * slot_count_, like.count);
    }

  private:
    static constexpr Count most_slots = 8;
    Count slots_;
    Count slot_count_;
    Block ring_;
};

/// Scratch for a composition that is run segment by segment: what eight segments have taken is used in turn. A segment
/// may keep something there for up to four segments.
class ScratchTurns {
  public:
    explicit ScratchTurns(const Call& call) : call_(call) {}

    /// Before each segment.
    void next() {
        Count& mark = marks_.at(number_ % marks_.size());
        if (number_++ < marks_.size()) mark = call_.scratch_mark();
        else call_.reuse_scratch(mark);
    }

  private:
    const Call& call_;
    std::array<Count, 8> marks_{};
    std::size_t number_ = 0;
};

}  // namespace rondo
