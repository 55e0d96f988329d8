// SPDX-License-Identifier: BSD-3-Clause
// Two-tree exclusive scan: two in-order trees, each for one half of the vector, up and then down. The inner ranks of
// one tree are leaves of the other. [sanders2009two], section 4.3. For 2k blocks: at most 2*(2*h + 2*k) steps; time
// about 2*beta*m. Lands in the output.
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/patterns/couples.hpp"
#include "rondo/algorithms/patterns/tree_scans.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::exscan {
namespace {

constexpr Parameter parameters[] = {segment_parameter, second_tree_parameter, simplex_parameter};

}  // namespace

Schedule two_tree(const Call& call) {
    return plays_in_couples(call) ? couple_scan(call, ScanKind::exclusive) : two_tree_scan(call, ScanKind::exclusive);
}

const AlgorithmInfo two_tree_info = {
    .collective = "exscan",
    .name = "two_tree",
    .summary = "two trees, each for half the vector, up and down: few rounds, half the bandwidth",
    .citation = "sanders2009two",
    .parameters = parameters,
    .requirements = {&segment_requirement, 1},
    .schedule = two_tree,
};

}  // namespace rondo::exscan
