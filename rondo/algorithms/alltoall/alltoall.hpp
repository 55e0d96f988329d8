// SPDX-License-Identifier: BSD-3-Clause
// All-to-all (MPI_Alltoall): part i of the output of rank j becomes part j of the input of rank i. Every rank has as
// many elements for each: all vectors have a count, and that many p-ths of it are a part. In place, the input stands in
// the output.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::alltoall {

inline constexpr std::string_view summary = "every rank gets a part of its own from every rank";

#define RONDO_ALLTOALL_ALGORITHMS(ALGORITHM) \
    ALGORITHM(bruck)                         \
    ALGORITHM(full_lane)                     \
    ALGORITHM(k_lane)                        \
    ALGORITHM(k_ported)                      \
    ALGORITHM(linear)                        \
    ALGORITHM(multileader)                   \
    ALGORITHM(pairwise)

RONDO_ALLTOALL_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

/// How many leaders each node has in the multi-leader algorithm.
inline constexpr Parameter leaders_parameter = {.name = "leaders",
                                                .summary = "ranks of a node that exchange with other nodes",
                                                .minimum = 1,
                                                .maximum = 1024,
                                                .standard = 2};

/// The base of the digits by which parts travel in Bruck's algorithm.
inline constexpr Parameter radix_parameter = {.name = "radix",
                                              .summary = "base of the digits: fewer rounds, more messages in each",
                                              .minimum = 2,
                                              .maximum = 4096,
                                              .standard = 2};

/// How these leaders exchange where nodes are alike.
inline constexpr Alternative leader_exchanges[] = {{"pairwise", pairwise}, {"linear", linear}, {"bruck", bruck}};
inline constexpr Parameter leaders_exchange =
    part_parameter("lane", "the all-to-all of the leaders, where nodes have as many ranks each", leader_exchanges);

/// The full-lane algorithm for short parts: first all lanes, then all nodes.
Schedule lanes_then_nodes(const Call& call);

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_ALLTOALL_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

}  // namespace rondo::alltoall
