// SPDX-License-Identifier: BSD-3-Clause
// A schedule that somebody has written down: for one number of ranks, in chunks of the vector. It becomes an algorithm
// like any other, so that plans, pictures and predictions need to know nothing of where it is from.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/step.hpp"

namespace rondo::written {

/// As Step, but blocks are in chunks: of Call::input(), of Call::output(), or of scratch memory.
struct WrittenStep {
    StepKind kind = StepKind::exchange;
    std::vector<Transfer> transfers;
    Block left, right, into;
};

struct WrittenRank {
    std::vector<WrittenStep> steps;
    Count scratch = 0;  ///< chunks
};

struct WrittenSchedule {
    std::string_view collective;
    Count chunks = 1;  ///< of the whole vector
    Rank root = 0;
    bool reduces = false;  ///< in any order
    bool tolerates_in_place = false;
    std::vector<WrittenRank> ranks;

    /// How many sends, or receives, an exchange holds at most.
    [[nodiscard]] Count ports() const;
};

/// The algorithm of the schedule that a text describes, under a name; `read` reads the text if nobody has before. Both
/// are kept as long as the process lives: algorithms are borrowed everywhere. Its one parameter has a single value, the
/// fingerprint of name and text, by which ranks that have read different files notice. To be called by several threads
/// at a time. Throws what `read` throws.
const AlgorithmInfo& algorithm_of(std::string_view name, std::string_view text,
                                  const std::function<WrittenSchedule()>& read);

/// The schedule of such an algorithm; nullptr for one of Rondo's own.
const WrittenSchedule* schedule_of_written(const AlgorithmInfo& algorithm);

}  // namespace rondo::written
