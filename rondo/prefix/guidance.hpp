// SPDX-License-Identifier: BSD-3-Clause
// By which algorithm totals travel from rank to rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rondo/selection/choice.hpp"
#include "rondo/selection/machine.hpp"

namespace rondo::prefix {

/// What a user has said about it.
struct Guidance {
    std::optional<Choice> choice;  ///< nothing: what is quickest in virtual time
    Machine machine;
    std::uint64_t fingerprint = 0;  ///< of all that; ranks compare it
};

/// Reads what RONDO_PREFIX says: an algorithm for exclusive scans, with settings or without, or `chain`, the first one
/// of the paper: linear_pipeline with the total in one piece. Throws Error.
Choice parse_prefix_choice(std::string_view text);

/// The algorithm for totals of so many bytes that takes the least virtual time. It needs no nodes.
const AlgorithmInfo& quickest(Rank size, Count bytes, bool commutative, const Machine& machine);

}  // namespace rondo::prefix
