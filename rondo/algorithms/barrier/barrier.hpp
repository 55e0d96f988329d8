// SPDX-License-Identifier: BSD-3-Clause
// Barrier: no rank leaves before the last one has entered. As a collective of data, every rank gets an element of no
// bytes from each rank, in any order: only who has entered can have given its own.
#pragma once

#include "rondo/algorithms/list.hpp"

namespace rondo::barrier {

inline constexpr std::string_view summary = "no rank leaves before all ranks have entered";

#define RONDO_BARRIER_ALGORITHMS(ALGORITHM) \
    ALGORITHM(dissemination)                \
    ALGORITHM(leaders)                      \
    ALGORITHM(tree)

RONDO_BARRIER_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_BARRIER_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// Every rank tells `radix` - 1 others in a round; see dissemination.cpp. Ranks may have several elements.
Schedule disseminate(const Call& call, Rank radix);

/// The halves of a barrier along a tree; see tree.cpp. The elements of all end up with rank 0, in rank order; and what
/// rank 0 has in the output, with all.
Schedule gather_along_tree(const Call& call, Rank radix);
Schedule release_along_tree(const Call& call, Rank radix);

}  // namespace rondo::barrier
