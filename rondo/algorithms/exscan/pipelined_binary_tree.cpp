// SPDX-License-Identifier: BSD-3-Clause
// Pipelined binary tree exclusive scan: all segments up one in-order tree, whose ranks learn the sums of their
// subtrees, then all down again with the sums of what lies before. [sanders2009two], section 4.3. Time about 4*beta*m,
// in few rounds. Lands in the output.
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/patterns/tree_scans.hpp"
#include "rondo/algorithms/patterns/tree_shape.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::exscan {
namespace {

constexpr Parameter parameters[] = {segment_parameter, tree_shape_parameter};

}  // namespace

Schedule pipelined_binary_tree(const Call& call) { return pipelined_tree_scan(call, ScanKind::exclusive); }

const AlgorithmInfo pipelined_binary_tree_info = {
    .collective = "exscan",
    .name = "pipelined_binary_tree",
    .summary = "up one tree, then down: few rounds, a quarter of the bandwidth",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .schedule = pipelined_binary_tree,
};

}  // namespace rondo::exscan
