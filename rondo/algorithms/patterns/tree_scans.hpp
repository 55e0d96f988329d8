// SPDX-License-Identifier: BSD-3-Clause
// Scans over in-order trees, inclusive and exclusive: what the algorithms of both collectives share.
#pragma once

#include "rondo/algorithms/patterns/prefix_tree.hpp"
#include "rondo/core/schedule.hpp"
#include "rondo/topology/two_tree.hpp"

namespace rondo {

/// One tree; all segments up, then all down. Rounds: about 2*(2*log2 p + 2*segments).
Schedule pipelined_tree_scan(const Call& call, ScanKind kind);

/// One tree; a segment goes up and an earlier one down in the same exchange. [sanders2006parallel]. Rounds: about
/// 3*segments + 4*log2 p.
Schedule doubly_pipelined_tree_scan(const Call& call, ScanKind kind);

/// Two trees, each for one half of the vector; up, then down. Rounds: about 2*(2*log2 p + blocks).
Schedule two_tree_scan(const Call& call, ScanKind kind);

/// The same in couples of ranks.
Schedule couple_scan(const Call& call, ScanKind kind);

/// The end of a subtree: the rank's own left or right links to the last.
Rank outermost(const topology::TwoTrees& trees, int tree, Rank rank, bool left);

}  // namespace rondo
