// SPDX-License-Identifier: BSD-3-Clause
// What pipelined algorithms share: the segment parameter, and how much scratch a stream of segments needs.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "rondo/core/algorithm_info.hpp"

namespace rondo {

inline constexpr Parameter segment_parameter = {
    .name = "segment",
    .summary = "bytes of a pipeline's block (rounded down to whole elements, at least one)",
    .minimum = 1,
    .maximum = Count{1} << 40,
    .standard = Count{64} << 10,
    .unit = Unit::bytes,
};

inline constexpr Count most_segments = Count{1} << 17;  // a plan of 64 MiB

/// Refuses segments so short that the plan would take more memory than the pipeline saves time.
inline std::optional<std::string> too_many_segments(const CallFacts& facts, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.name != segment_parameter.name) continue;
        const Count per_segment = std::max<Count>(1, setting.value / std::max<Count>(1, facts.element_bytes));
        if (facts.count / per_segment > most_segments) {
            return "segment=" + std::to_string(setting.value) + " cuts " + std::to_string(facts.bytes()) +
                   " bytes into more than " + std::to_string(most_segments) + " segments";
        }
    }
    return std::nullopt;
}

inline constexpr Requirement segment_requirement = {"at most 131072 segments", too_many_segments};

/// Scratch for a stream of segments: room for a few, used in turn. A slot is free again when the transfer from eight
/// segments ago is over; executors keep no more under way, so little waits for it, and the slots stay in cache.
class SegmentRing {
  public:
    SegmentRing(const Call& call, const Segments& segments)
        : slot_count_(segments.largest()), ring_(call.scratch(std::min(slots, segments.size()) * slot_count_)) {}

    /// The slot of segment `index`, as long as `like`.
    [[nodiscard]] Block slot(Count index, Block like) const {
        return ring_.part(index % slots * slot_count_, like.count);
    }

  private:
    static constexpr Count slots = 8;
    Count slot_count_;
    Block ring_;
};

}  // namespace rondo
