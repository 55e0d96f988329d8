// SPDX-License-Identifier: BSD-3-Clause
// Inclusive scan by leaders: a scan on each node, by doubling; an exclusive scan of the last ranks of the nodes, by
// cyclic doubling; each tells its node what comes before it. Short vectors, whole in every message. Rounds on N nodes
// of n ranks: ceil(log2 N) between nodes, 2 ceil(log2 n) within them. [traff2020decomposing], section 2, with one lane.
#include "rondo/algorithms/patterns/node_scans.hpp"
#include "rondo/algorithms/scan/scan.hpp"

namespace rondo::scan {

Schedule leaders(const Call& call) { return leaders_scan(call, ScanKind::inclusive); }

const AlgorithmInfo leaders_info = {
    .collective = "scan",
    .name = "leaders",
    .summary = "a scan on nodes, then of one rank of each: for short vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&leaders_scan_lane, 1},
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::scan
