// SPDX-License-Identifier: BSD-3-Clause
// Inclusive scan: rank r gets V_0 (+) ... (+) V_r, operands in rank order.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::scan {

inline constexpr std::string_view summary = "rank r gets the reduction of the inputs of the ranks up to itself";

#define RONDO_SCAN_ALGORITHMS(ALGORITHM) \
    ALGORITHM(doubling)                  \
    ALGORITHM(doubly_pipelined_tree)     \
    ALGORITHM(full_lane)                 \
    ALGORITHM(leaders)                   \
    ALGORITHM(linear_pipeline)           \
    ALGORITHM(pipelined_binary_tree)     \
    ALGORITHM(two_tree)

RONDO_SCAN_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_SCAN_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

}  // namespace rondo::scan
