// SPDX-License-Identifier: BSD-3-Clause
// Allreduce: every rank gets V_0 (+) ... (+) V_{p-1}, operands in rank order unless the operator commutes. Every
// element of the result has the same bits on all ranks: it is combined in the same order wherever it is combined.
#pragma once

#include "rondo/algorithms/list.hpp"
#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo::allreduce {

inline constexpr std::string_view summary = "every rank gets the reduction of the inputs of all ranks";

#define RONDO_ALLREDUCE_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binary_blocks)                  \
    ALGORITHM(binary_tree)                    \
    ALGORITHM(bine_butterfly)                 \
    ALGORITHM(bine_tree)                      \
    ALGORITHM(circulant)                      \
    ALGORITHM(dual_root)                      \
    ALGORITHM(full_lane)                      \
    ALGORITHM(halving_doubling)               \
    ALGORITHM(hubs)                           \
    ALGORITHM(leaders)                        \
    ALGORITHM(recursive_doubling)             \
    ALGORITHM(recursive_multiplying)          \
    ALGORITHM(ring)                           \
    ALGORITHM(two_tree)

RONDO_ALLREDUCE_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_ALLREDUCE_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// Whole vectors, exchanged in groups of at most `radix` ranks; see recursive_multiplying.cpp.
Schedule multiply(const Call& call, Rank radix);

/// A reduce-scatter by halving and an allgather the same way back; see halving_doubling.cpp.
Schedule halve_and_double(const Call& call, HalvingOf halving_of);

inline constexpr Rank largest_radix = 8;

/// Of recursive_multiplying, and of compositions with it.
inline constexpr Parameter multiplying_radix = {.name = "radix",
                                                .summary = "the most ranks that exchange in a round",
                                                .minimum = 2,
                                                .maximum = largest_radix,
                                                .standard = 4};

}  // namespace rondo::allreduce
