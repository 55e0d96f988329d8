// SPDX-License-Identifier: BSD-3-Clause
// Scatter (MPI_Scatter): the root's input is a vector with a part for each rank, in their order; the output of a rank
// becomes its part. In place, the root's part stays where it stands. Parts of any lengths.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::scatter {

inline constexpr std::string_view summary = "every rank gets its part of the root's vector";

#define RONDO_SCATTER_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binomial)                     \
    ALGORITHM(full_lane)                    \
    ALGORITHM(k_lane)                       \
    ALGORITHM(k_ported)                     \
    ALGORITHM(linear)

RONDO_SCATTER_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_SCATTER_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// The text that `binomial` and `k_ported` share: every range of ranks falls into k + 1.
Schedule along_ranges(const Call& call, Rank k);

}  // namespace rondo::scatter
