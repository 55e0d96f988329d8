// SPDX-License-Identifier: BSD-3-Clause
// Exclusive scan by leaders: a scan on each node, by doubling; an exclusive scan of the last ranks of the nodes, by
// cyclic doubling; each tells its node what comes before it. Short vectors, whole in every message. Rounds on N nodes
// of n ranks: ceil(log2 N) between nodes, 2 ceil(log2 n) within them. [traff2020decomposing], section 2, with one lane.
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/patterns/node_scans.hpp"

namespace rondo::exscan {

Schedule leaders(const Call& call) { return leaders_scan(call, ScanKind::exclusive); }

const AlgorithmInfo leaders_info = {
    .collective = "exscan",
    .name = "leaders",
    .summary = "a scan on nodes, then of one rank of each: for short vectors on nodes of many ranks",
    .citation = "traff2020decomposing",
    .parameters = {&leaders_scan_lane, 1},
    .uses_nodes = true,
    .schedule = leaders,
};

}  // namespace rondo::exscan
