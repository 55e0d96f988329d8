// SPDX-License-Identifier: BSD-3-Clause
// Reduction: the root gets V_0 (+) ... (+) V_{p-1}, operands in rank order unless the operator commutes. On the other
// ranks the output does not exist: no step there may touch it. Only the root can be in place.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::reduce {

inline constexpr std::string_view summary = "the root gets the reduction of the inputs of all ranks";

#define RONDO_REDUCE_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binary_blocks)               \
    ALGORITHM(binomial)                    \
    ALGORITHM(butterfly)                   \
    ALGORITHM(circulant)                   \
    ALGORITHM(full_lane)                   \
    ALGORITHM(halving_doubling)            \
    ALGORITHM(leaders)                     \
    ALGORITHM(linear_pipeline)             \
    ALGORITHM(pipelined_binary_tree)       \
    ALGORITHM(ring)                        \
    ALGORITHM(two_tree)

RONDO_REDUCE_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_REDUCE_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// Of a circulant graph reduction of `blocks` blocks, what one of them goes through: this call is about that block
/// only. For callers that do other things with each block, from the last to the first.
Schedule circulant_block(const Call& call, Count block, Count blocks);

}  // namespace rondo::reduce
