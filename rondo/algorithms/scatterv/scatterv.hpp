// SPDX-License-Identifier: BSD-3-Clause
// Scatter of parts that differ (MPI_Scatterv): the root knows how long all of them are, every other rank its own. So
// lengths are local facts, which decide nothing. Parts that are passed on by way of other ranks travel in slots of a
// length that all know: see slots.hpp. In place, the root has no part that moves.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::scatterv {

inline constexpr std::string_view summary = "every rank gets its part of the root's vector, of any length";

#define RONDO_SCATTERV_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binomial)                      \
    ALGORITHM(k_lane)                        \
    ALGORITHM(linear)

RONDO_SCATTERV_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_SCATTERV_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

}  // namespace rondo::scatterv
