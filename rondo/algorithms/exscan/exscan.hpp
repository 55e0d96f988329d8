// SPDX-License-Identifier: BSD-3-Clause
// Exclusive scan: rank r > 0 gets V_0 (+) ... (+) V_{r-1}, operands in rank order. On rank 0 the output does not exist:
// no step there may touch it.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::exscan {

inline constexpr std::string_view summary = "rank r gets the reduction of the inputs of the ranks before it";

#define RONDO_EXSCAN_ALGORITHMS(ALGORITHM) \
    ALGORITHM(broadcast)                   \
    ALGORITHM(cyclic_doubling)             \
    ALGORITHM(doubling_123)                \
    ALGORITHM(doubly_pipelined_tree)       \
    ALGORITHM(full_lane)                   \
    ALGORITHM(leaders)                     \
    ALGORITHM(linear_pipeline)             \
    ALGORITHM(one_doubling)                \
    ALGORITHM(pipelined_binary_tree)       \
    ALGORITHM(prefix_family)               \
    ALGORITHM(two_op_doubling)             \
    ALGORITHM(two_tree)

RONDO_EXSCAN_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_EXSCAN_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// The text that the doubling algorithms share: the first `inclusive_rounds` rounds send E (+) V, the others E.
Schedule doubling(const Call& call, int inclusive_rounds);

}  // namespace rondo::exscan
