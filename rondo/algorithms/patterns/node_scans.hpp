// SPDX-License-Identifier: BSD-3-Clause
// Scans on nodes and between them, inclusive and exclusive: what the algorithms of both collectives share. Where nodes
// interleave, every run of consecutive ranks of one node counts as a node: a scan is in rank order whatever the
// operator.
#pragma once

#include "rondo/algorithms/patterns/prefix_tree.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

/// Of `leaders_scan`.
extern const Parameter leaders_scan_lane;

/// A scan on each node; an exclusive scan of the last ranks of the nodes, which have the sums of theirs; each tells its
/// node what comes before it. Whole vectors: for short ones.
Schedule leaders_scan(const Call& whole, ScanKind kind);

/// For the sum of what comes before a node: a reduce-scatter on each node, an exclusive scan on each lane, an allgather
/// on each node. Beside that, a scan on each node. In pieces, so that all this overlaps.
Schedule full_lane_scan(const Call& whole, ScanKind kind);

}  // namespace rondo
