// SPDX-License-Identifier: BSD-3-Clause
// Inclusive scan in full lane: a reduce-scatter on each node, an exclusive scan on each lane, from node to node, and an
// allgather on each node, of what comes before the node; beside that, a scan on each node. [traff2020decomposing],
// section 2. Long vectors, on nodes of several ranks: in pieces, so that all this overlaps. Every part enters and
// leaves each node once: time tends to beta*m.
#include "rondo/algorithms/patterns/node_scans.hpp"
#include "rondo/algorithms/scan/scan.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::scan {

Schedule full_lane(const Call& call) { return full_lane_scan(call, ScanKind::inclusive); }

const AlgorithmInfo full_lane_info = {
    .collective = "scan",
    .name = "full_lane",
    .summary =
        "a scan on nodes; of what comes before, an exclusive scan on each lane: for long vectors on nodes of many "
        "ranks",
    .citation = "traff2020decomposing",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = full_lane,
};

}  // namespace rondo::scan
