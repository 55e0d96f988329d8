// SPDX-License-Identifier: BSD-3-Clause
// Gather of parts that differ (MPI_Gatherv): the root knows how long all of them are, every other rank its own. So
// lengths are local facts, which decide nothing. Parts that are passed on by way of other ranks travel in slots of a
// length that all know: see slots.hpp. In place, the root has no part that moves.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::gatherv {

inline constexpr std::string_view summary = "the root gets the parts of all ranks, of any lengths";

#define RONDO_GATHERV_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binomial)                     \
    ALGORITHM(k_lane)                       \
    ALGORITHM(linear)

RONDO_GATHERV_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_GATHERV_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

}  // namespace rondo::gatherv
