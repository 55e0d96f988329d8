// SPDX-License-Identifier: BSD-3-Clause
// What pipelined algorithms share: the segment parameter, and how much scratch a stream of segments needs.
#pragma once

#include <algorithm>

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

/// Scratch for a stream of segments: room for a few, used in turn. A slot is free again when the transfer from eight
/// segments ago is over; executors keep fewer under way, so nothing waits for it, and the slots stay in cache.
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
