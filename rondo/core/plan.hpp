// SPDX-License-Identifier: BSD-3-Clause
// A plan: a schedule written down, with its hazards resolved, ready to be run as dataflow any number of times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/slots.hpp"
#include "rondo/core/step.hpp"

namespace rondo {

enum class ActionKind : std::uint8_t { receive, send, combine, copy };

inline constexpr int step_bits = 29;  ///< of the number of a step

/// One thing to do: a transfer of an exchange, a combine, or a copy. Addresses are relative (blocks). Long plans are
/// memory that every call reads: two actions to a cache line. What only some need, or what changes while a plan runs,
/// stands beside them in the plan.
struct Action {
    Block block;                ///< what is sent or received; the left operand of a combine; the source of a copy
    Rank peer = no_rank;        ///< of local work: for Plan::pieces
    std::uint32_t link = none;  ///< of a transfer: Plan::next_to_peer; of local work: Plan::local_work
    std::uint32_t first_dependent = 0;   ///< into Plan::dependents, up to that of the next action
    std::uint32_t step : step_bits = 0;  ///< the number of the step that it came from
    ActionKind kind : 2 = ActionKind::copy;
    bool inside : 1 = false;  ///< of a transfer: with a rank of the same node, as far as the algorithm asks for nodes

    [[nodiscard]] bool is_transfer() const { return kind == ActionKind::send || kind == ActionKind::receive; }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
};

static_assert(sizeof(Action) == 32);

/// The blocks of a combine or a copy besides Action::block. All have equal counts.
struct LocalWork {
    Block right;  ///< operand of a combine
    Block into;
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

    [[nodiscard]] std::span<const Action> actions() const { return {actions_.data(), waits_for_.size()}; }
    /// How many conditions must come true before each action may start.
    [[nodiscard]] std::span<const std::uint32_t> waits_for() const { return waits_for_; }
    /// Those that wait for nothing, the earliest first.
    [[nodiscard]] std::span<const std::uint32_t> ready_at_once() const { return ready_at_once_; }
    /// The actions that wait for this one to complete.
    [[nodiscard]] std::span<const std::uint32_t> dependents(std::uint32_t action) const {
        const std::uint32_t first = actions_[action].first_dependent;
        return {dependents_.data() + first, actions_[action + 1].first_dependent - first};
    }
    /// The action that waits for this transfer to *start*: matching order.
    [[nodiscard]] std::uint32_t next_to_peer(std::uint32_t transfer) const { return actions_[transfer].link; }
    /// Of a combine or a copy.
    [[nodiscard]] const LocalWork& local_work(const Action& action) const { return local_work_[action.link]; }
    /// Of a copy: how it goes on behind its blocks.
    [[nodiscard]] Pieces pieces(const Action& copy) const {
        return copy.peer == no_rank ? Pieces() : pieces_[static_cast<std::size_t>(copy.peer)];
    }
    /// The one combine that needs what this receive brings, and needs all of it; Action::none where more, or less, is
    /// needed. Then whoever receives may combine on the way.
    [[nodiscard]] std::uint32_t sole_combine(std::uint32_t receive) const;
    /// Elements of the longest message.
    [[nodiscard]] Count longest_message() const { return longest_message_; }
    /// How many elements of scratch the plan addresses.
    [[nodiscard]] Count scratch() const { return scratch_; }
    /// Where messages are runs of slots.
    [[nodiscard]] const Slots& slots() const { return slots_; }
    /// The lengths of the parts in the first slots; 0 where the part is too long.
    [[nodiscard]] std::span<const std::uint32_t> lengths_in_slots() const { return lengths_in_slots_; }
    [[nodiscard]] std::size_t bytes() const {
        const std::size_t links =
            waits_for_.capacity() + dependents_.capacity() + ready_at_once_.capacity() + lengths_in_slots_.capacity();
        return sizeof(*this) + actions_.capacity() * sizeof(Action) + local_work_.capacity() * sizeof(LocalWork) +
               pieces_.capacity() * sizeof(Pieces) + links * sizeof(std::uint32_t);
    }

    /// For tests of the checkers: the plan without the condition that `dependent` waits for `action`.
    [[nodiscard]] Plan without_dependency(std::uint32_t action, std::uint32_t dependent) const;

  private:
    friend class PlanBuilder;
    static Plan of(const Call& call, Schedule& schedule, bool knows_nodes, const Slots& slots);
    void find_ready();

    std::vector<Action> actions_;  // and one more, which ends the dependents of the last
    std::vector<LocalWork> local_work_;
    std::vector<Pieces> pieces_;
    std::vector<std::uint32_t> waits_for_;
    std::vector<std::uint32_t> dependents_;
    std::vector<std::uint32_t> ready_at_once_;
    Count scratch_ = 0;
    Count longest_message_ = 0;
    Slots slots_;
    std::vector<std::uint32_t> lengths_in_slots_;
};

}  // namespace rondo
