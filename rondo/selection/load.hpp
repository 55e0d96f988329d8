// SPDX-License-Identifier: BSD-3-Clause
// What a call keeps busy: a bound on its time that needs no run.
#pragma once

#include <span>

#include "rondo/backends/virtual/cost_model.hpp"
#include "rondo/core/algorithm_info.hpp"

namespace rondo {

/// Seconds for which the busiest is busy: a rank, one of its wires inside the node, or the lanes of a node. Seen on the
/// root, and on the ranks of the first node and of one in the middle (of large nodes, on some of their ranks). Of a
/// long pipeline, the first segments are seen. `settings` are closed.
double least_seconds(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                     const virtual_machine::CostModel& costs);

}  // namespace rondo
