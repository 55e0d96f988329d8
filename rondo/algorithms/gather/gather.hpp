// SPDX-License-Identifier: BSD-3-Clause
// Gather (MPI_Gather): the output of the root becomes the parts of all ranks, in their order. In place, the root's part
// stands where it belongs in the output. Parts of any lengths. Each algorithm is the scatter of its name backwards.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::gather {

inline constexpr std::string_view summary = "the root gets the parts of all ranks";

#define RONDO_GATHER_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binomial)                    \
    ALGORITHM(full_lane)                   \
    ALGORITHM(k_lane)                      \
    ALGORITHM(k_ported)                    \
    ALGORITHM(linear)

RONDO_GATHER_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_GATHER_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// The text that `binomial` and `k_ported` share: k + 1 ranges of ranks become one.
Schedule along_ranges(const Call& call, Rank k);

}  // namespace rondo::gather
