// SPDX-License-Identifier: BSD-3-Clause
// Allgather, of equal or different parts (MPI_Allgather, MPI_Allgatherv): the output of every rank becomes the parts of
// all ranks, in their order. In place, a rank's part stands where it belongs in the output.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::allgather {

inline constexpr std::string_view summary = "every rank gets the parts of all ranks";

#define RONDO_ALLGATHER_ALGORITHMS(ALGORITHM) \
    ALGORITHM(all_broadcast)                  \
    ALGORITHM(bine_butterfly)                 \
    ALGORITHM(bruck)                          \
    ALGORITHM(circulant)                      \
    ALGORITHM(full_lane)                      \
    ALGORITHM(leaders)                        \
    ALGORITHM(recursive_doubling)             \
    ALGORITHM(ring)

RONDO_ALLGATHER_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_ALLGATHER_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// The text that `circulant` and `bruck` share: see GrowingRuns::along_skips.
Schedule along_skips(const Call& call, std::span<const Rank> skips);

}  // namespace rondo::allgather
