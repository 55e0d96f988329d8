// SPDX-License-Identifier: BSD-3-Clause
// A plan: a schedule written down, with its hazards resolved, ready to be run as dataflow any number of times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/step.hpp"

namespace rondo {

enum class ActionKind : std::uint8_t { receive, send, combine, copy };

/// One thing to do: a transfer of an exchange, a combine, or a copy. Addresses are relative (blocks).
struct Action {
    Block block;  ///< what is sent or received; the left operand of a combine; the source of a copy
    Block right;  ///< of a combine
    Block into;   ///< of a combine or a copy
    Rank peer = no_rank;
    std::uint32_t step = 0;             ///< the number of the step that it came from
    std::uint32_t waits_for = 0;        ///< how many conditions must come true before it may start
    std::uint32_t first_dependent = 0;  ///< into Plan::dependents: those that wait for this one to complete
    std::uint32_t dependents = 0;       ///< how many
    std::uint32_t next_to_peer = none;  ///< the action that waits for this one to *start*: matching order
    ActionKind kind = ActionKind::copy;

    static constexpr std::uint32_t none = ~std::uint32_t{0};
};

/// Rules of execution, which every executor keeps:
/// - An action starts when all that it waits for has come true, in any order among those that may start. Actions that
///   it must not overtake in the data (it reads what they write, writes what they read or write) must have completed;
///   the previous message in the same direction with the same peer must have started.
/// - A send has completed when its block may be overwritten; a receive when its block may be read.
/// - An executor may bound how many receives and how many sends are under way, but must always let the transfers of
///   the earliest step that has not completed start: then dataflow cannot deadlock where lock step does not.
class Plan {
  public:
    /// Runs the schedule to its end. Throws Error where steps contradict their contract (see step.hpp).
    static Plan of(const Call& call, const AlgorithmInfo& info);
    static Plan of(const Call& call, Schedule& schedule);

    [[nodiscard]] std::span<const Action> actions() const { return actions_; }
    [[nodiscard]] std::span<const std::uint32_t> dependents(const Action& action) const {
        return std::span(dependents_).subspan(action.first_dependent, action.dependents);
    }
    /// How many elements of scratch the plan addresses.
    [[nodiscard]] Count scratch() const { return scratch_; }
    [[nodiscard]] std::size_t bytes() const {
        return sizeof(*this) + actions_.capacity() * sizeof(Action) + dependents_.capacity() * sizeof(dependents_[0]);
    }

    /// For tests of the checkers: the plan without the condition that `dependent` waits for `action`.
    [[nodiscard]] Plan without_dependency(std::uint32_t action, std::uint32_t dependent) const;

  private:
    friend class PlanBuilder;
    std::vector<Action> actions_;
    std::vector<std::uint32_t> dependents_;
    Count scratch_ = 0;
};

}  // namespace rondo
