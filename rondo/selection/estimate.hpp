// SPDX-License-Identifier: BSD-3-Clause
// About how long a call takes, of any number of ranks, in a few milliseconds: good enough to choose by.
#pragma once

#include <optional>
#include <span>

#include "rondo/backends/virtual/cost_model.hpp"
#include "rondo/core/algorithm_info.hpp"

namespace rondo {

/// How much may be run to find out what a call takes.
struct EstimateLimits {
    Rank ranks;      ///< calls of no more are run as they are
    Rank on_node;    ///< of larger nodes, where nodes of no more stand for them
    Count messages;  ///< of each run
    Count segments;  ///< of a longer pipeline; and half as many
};

/// Seconds in virtual time. A call of few ranks is run as it is, or one node stands for all where each does the same.
/// Fewer nodes stand for many: three runs, on two or four times as many nodes each, say what further nodes add. Of a
/// long pipeline, the first segments are run. Nothing where even that is too much, or is not served. `settings` are
/// closed. A pure function of its arguments.
std::optional<double> estimated_seconds(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                        std::span<const Setting> settings, const virtual_machine::CostModel& costs,
                                        const EstimateLimits& limits);

}  // namespace rondo
