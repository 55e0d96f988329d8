// SPDX-License-Identifier: BSD-3-Clause
// All-to-all of parts that differ (MPI_Alltoallv): each rank knows how long those are that it sends and receives, and
// nobody knows more. So lengths are local facts, which decide nothing. Parts that are passed on by way of other ranks
// travel in slots of a length that all know: see slots.hpp.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::alltoallv {

inline constexpr std::string_view summary = "every rank gets a part of its own, of any length, from every rank";

#define RONDO_ALLTOALLV_ALGORITHMS(ALGORITHM) \
    ALGORITHM(bruck)                          \
    ALGORITHM(full_lane)                      \
    ALGORITHM(k_ported)                       \
    ALGORITHM(linear)                         \
    ALGORITHM(multileader)                    \
    ALGORITHM(pairwise)

RONDO_ALLTOALLV_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_ALLTOALLV_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

}  // namespace rondo::alltoallv
