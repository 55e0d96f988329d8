// SPDX-License-Identifier: BSD-3-Clause
// Calls as users describe them, with what one of Rondo's algorithms makes of them.
#pragma once

#include <nanobind/nanobind.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"

namespace rondo {

/// The facts of a call that users describe. Throws Error if it makes no sense. The count is of the whole vector.
SharedFacts checked_facts(const Collective& collective, Count processes, Count count, Count element_bytes, Count root,
                          bool commutative);

/// Throws Error as `parse_choice`, and for the library's own collective.
Choice known_choice(const Collective& collective, std::string_view text);

/// For Python: the name of the buffer, the first element, and how many.
nanobind::tuple described(const Block& block);

/// The lengths of all parts, all equal, for a collective of which not all ranks know them.
class EqualParts {
  public:
    EqualParts() = default;
    EqualParts(const Collective& collective, const SharedFacts& facts, Count count);
    [[nodiscard]] const virtual_machine::PartTable* table() const { return table_ ? &*table_ : nullptr; }

  private:
    std::optional<virtual_machine::PartTable> table_;
};

/// A call, and a choice for it.
class DescribedCall {
  public:
    DescribedCall(std::string_view collective, std::string_view choice, Count processes, Count count,
                  Count element_bytes, Count root, std::string_view nodes, Count most_messages,
                  bool commutative = true);
    DescribedCall(const DescribedCall&) = delete;  // the facts hold on to the placement
    DescribedCall& operator=(const DescribedCall&) = delete;
    ~DescribedCall() = default;

    [[nodiscard]] const SharedFacts& facts() const { return facts_; }
    [[nodiscard]] const AlgorithmInfo& algorithm() const { return *choice_.algorithm; }
    [[nodiscard]] std::vector<Setting> settings_on(const virtual_machine::CostModel& costs) const;
    /// Borrows the settings. Throws Error where the algorithm refuses the call.
    [[nodiscard]] virtual_machine::Problem problem(std::span<const Setting> settings, bool in_place = false) const;
    [[nodiscard]] static Error too_many(Count most) { return Error("more than " + std::to_string(most) + " messages"); }

  private:
    const Collective& collective_;
    const Choice choice_;
    SharedFacts facts_;
    std::optional<Placement> placement_;
    EqualParts parts_;
};

}  // namespace rondo
