// SPDX-License-Identifier: BSD-3-Clause
// The best segment of a pipeline for one call on one machine: found by running the schedule in virtual time.
#pragma once

#include <span>
#include <vector>

#include "rondo/backends/virtual/pipeline_times.hpp"

namespace rondo::virtual_machine {

/// What a choice may cost at the first call of a kind, in actions of the plans that are timed: less than a millisecond,
/// or two on nodes of several ranks. Counted, not clocked, so that all ranks decide alike.
inline constexpr Count actions_per_choice = 1800;

/// The segment with which the call is fastest, of the powers of two from 4 KiB (or one element) up and of the whole
/// vector; of almost equal ones the longest. More ranks than `budget` allows (some 8) are represented by 32, 16 or 8
/// of them, on whose time is added what a single segment takes longer to reach all: exact for chains, for trees and
/// circulant graphs good to some ten percent. Nodes of several ranks are represented by nodes of two, or by all of them
/// if they are few. Where the parts of the ranks are cut (`has_segments_of_parts`), the longest is an even part, and
/// six ranks or fewer stand for all. Where an algorithm uses nodes, the longest is what one lane carries, or an even
/// part, and 16 ranks or fewer stand for all, with pieces as long as those of all. The standard value of the parameter,
/// as far as the vector allows, where even that is over the budget. A pure function of its arguments, without in-place
/// among them. What `settings` says of the segment does not count.
///
/// The search begins at the standard segment; where that is beyond `costs.eager`, at the longest that is not.
SegmentTime best_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                         const CostModel& costs, Count budget = actions_per_choice);

/// The time of a given segment, found as for `best_segment`.
SegmentTime time_of_segment(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                            Count segment, const CostModel& costs, Count budget = actions_per_choice);

/// The segments that `best_segment` considers, from the shortest to the whole vector.
std::vector<Count> candidate_segments(const AlgorithmInfo& algorithm, const SharedFacts& facts);

/// The settings of a choice with the open ones closed, ready for a Call.
std::vector<Setting> closed_settings(const AlgorithmInfo& algorithm, const SharedFacts& facts,
                                     std::span<const Setting> settings, const CostModel& costs,
                                     Count budget = actions_per_choice);

}  // namespace rondo::virtual_machine
