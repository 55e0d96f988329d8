// SPDX-License-Identifier: BSD-3-Clause
// Requirements that several algorithms have.
#pragma once

#include <optional>
#include <string>

#include "rondo/core/algorithm_info.hpp"

namespace rondo {

inline constexpr Requirement commutative_requirement = {
    "a commutative operator", [](const SharedFacts& facts, std::span<const Setting> /*settings*/) {
        return facts.op.commutative ? std::nullopt : std::optional<std::string>("the operator does not commute");
    }};

inline constexpr Requirement rank_order_requirement = {
    "nodes in rank order, or a commutative operator",
    [](const SharedFacts& facts, std::span<const Setting> /*settings*/) {
        const bool met = facts.op.commutative || facts.placement == nullptr || facts.placement->in_rank_order();
        return met ? std::nullopt : std::optional<std::string>("the operator does not commute, and nodes interleave");
    }};

}  // namespace rondo
