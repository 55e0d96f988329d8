// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter, of equal or different parts (MPI_Reduce_scatter_block, MPI_Reduce_scatter): every rank gets its part
// of V_0 (+) ... (+) V_{p-1}, operands in rank order unless the operator commutes. In place, the input stands in the
// output buffer, whose first elements become the result; the others stay what they were.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::reduce_scatter {

inline constexpr std::string_view summary = "every rank gets its part of the reduction of all inputs";

#define RONDO_REDUCE_SCATTER_ALGORITHMS(ALGORITHM) \
    ALGORITHM(bine_butterfly)                      \
    ALGORITHM(butterfly)                           \
    ALGORITHM(circulant)                           \
    ALGORITHM(full_lane)                           \
    ALGORITHM(leaders)                             \
    ALGORITHM(pairwise)                            \
    ALGORITHM(recursive_halving)                   \
    ALGORITHM(ring)

RONDO_REDUCE_SCATTER_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_REDUCE_SCATTER_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// May `target` be combined from `operand`? In place, a rank's own input may overlap its output in part.
[[nodiscard]] constexpr bool can_become(Block operand, Block target) {
    return operand == target || !overlap(operand, target);
}

/// For any operator: circulant, or pairwise if it does not commute.
[[nodiscard]] inline Schedule circulant_or_pairwise(const Call& call) {
    return call.commutative() ? circulant(call) : pairwise(call);
}

}  // namespace rondo::reduce_scatter
