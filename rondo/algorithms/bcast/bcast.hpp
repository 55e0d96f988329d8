// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: the output of every rank becomes that of the root. There is one buffer: on the root, input and output are
// the same block; on the others, the input means nothing and may not be read.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::bcast {

inline constexpr std::string_view summary = "every rank gets the root's vector";

#define RONDO_BCAST_ALGORITHMS(ALGORITHM) \
    ALGORITHM(bine_butterfly)             \
    ALGORITHM(bine_tree)                  \
    ALGORITHM(binomial)                   \
    ALGORITHM(circulant)                  \
    ALGORITHM(full_lane)                  \
    ALGORITHM(hubs)                       \
    ALGORITHM(k_lane)                     \
    ALGORITHM(k_ported)                   \
    ALGORITHM(leaders)                    \
    ALGORITHM(linear_pipeline)            \
    ALGORITHM(pipelined_binary_tree)      \
    ALGORITHM(scatter_allgather)          \
    ALGORITHM(split_tree)                 \
    ALGORITHM(two_tree)

RONDO_BCAST_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_BCAST_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// Of a circulant graph broadcast of `blocks` blocks, what one of them goes through: this call is about that block
/// only. For callers that do other things with each block; one after the other, the blocks take the same rounds.
Schedule circulant_block(const Call& call, Count block, Count blocks);

/// A rank's neighbours in a binary tree; `no_rank` for who does not exist.
struct TreeNeighbours {
    Rank parent, first_child, second_child;
};

/// Segments down a binary tree, each in two steps: from the parent, to one child, to the other while the next one
/// comes.
Schedule stream_down(const Call& call, const Segments& segments, const TreeNeighbours& neighbours);

/// The parameters of k_ported, which algorithms that contain it have, too.
inline constexpr Parameter tree_ports = {
    .name = "ports", .summary = "messages that a rank sends at a time", .minimum = 1, .maximum = 32, .standard = 3};
inline constexpr Parameter at_once = {.name = "at_once",
                                      .summary = "0: round by round; 1: a rank sends all its messages at once",
                                      .minimum = 0,
                                      .maximum = 1,
                                      .standard = 0};

/// Messages of one exchange, by these two parameters, in this order.
constexpr Count ports_at_once(std::span<const Setting> settings) noexcept {
    constexpr Count most_rounds = 31;
    return settings[0].value * (settings[1].value == 1 ? most_rounds : 1);
}

}  // namespace rondo::bcast
