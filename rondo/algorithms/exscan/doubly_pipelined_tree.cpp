// SPDX-License-Identifier: BSD-3-Clause
// Doubly pipelined tree exclusive scan: one in-order tree; while a segment goes up, an earlier one comes down over the
// same edge, in one exchange. [sanders2006parallel]. Rounds: about 3*segments + 4*log2 p; time about 3*beta*m. Lands in
// the output.
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/patterns/tree_scans.hpp"
#include "rondo/algorithms/patterns/tree_shape.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::exscan {
namespace {

constexpr Parameter parameters[] = {segment_parameter, tree_shape_parameter};

}  // namespace

Schedule doubly_pipelined_tree(const Call& call) { return doubly_pipelined_tree_scan(call, ScanKind::exclusive); }

const AlgorithmInfo doubly_pipelined_tree_info = {
    .collective = "exscan",
    .name = "doubly_pipelined_tree",
    .summary = "up and down one tree at the same time: few rounds, a third of the bandwidth",
    .citation = "sanders2006parallel",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .schedule = doubly_pipelined_tree,
};

}  // namespace rondo::exscan
