// SPDX-License-Identifier: BSD-3-Clause
// Nodes as users write them: 4x8, or 4,4,3; and domains of one node: domains:2x8.
#pragma once

#include <string_view>
#include <vector>

#include "rondo/core/placement.hpp"

namespace rondo {

/// The ranks on each node: of "4x8" eight on each of four, of "4,4,3" as listed; ranks fill one node after the other.
/// For "domains:2x8", the result has the ranks of each domain. Throws Error, one line, for any other text.
std::vector<Rank> parse_ranks_on_nodes(std::string_view text);

/// Throws Error also if the nodes, or domains, do not have so many ranks in all.
Placement parse_nodes(std::string_view text, Rank ranks);

}  // namespace rondo
