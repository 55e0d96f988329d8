// SPDX-License-Identifier: BSD-3-Clause
// The conditions of rules, and what calls have of them, as text.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "rondo/selection/rules.hpp"

namespace rondo {

/// As Rules::Fact. Of ranks per node, what is asked is asked of all nodes: of the fewest and of the most.
inline constexpr std::string_view fact_names[] = {"bytes",   "processes",     "commutative",   "library",
                                                  "eager",   "nodes",         "shared_memory", "oversubscribed",
                                                  "domains", "ranks_per_node"};
inline constexpr std::string_view library_names[] = {"mpich", "openmpi", "impi"};  // as MpiLibrary, from 1 on

inline constexpr Interval any_count = {};
inline constexpr Interval some_ranks = {1, std::numeric_limits<Rank>::max()};
inline constexpr Interval no_or_yes = {0, 1};
/// Of each fact, what a condition can hold for. One on nodes or ranks per node is not met where that is unknown (0).
inline constexpr Interval askable[] = {any_count, some_ranks, no_or_yes,  any_count,  any_count, some_ranks,
                                       no_or_yes, no_or_yes,  some_ranks, some_ranks, some_ranks};
static_assert(std::size(askable) == Rules::facts);

/// As a rule asks for it: "processes in 9..16". Of `ranks_per_node`, the fact is `fewest_on_node`.
std::string condition_text(Rules::Fact fact, const Interval& asked);

/// What a call has of a fact: "16", "yes", "3 to 4".
std::string value_text(Rules::Fact fact, const Interval& found);

}  // namespace rondo
