// SPDX-License-Identifier: BSD-3-Clause
// Which action of a plan may start now: the bookkeeping of dataflow execution, shared by all executors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "rondo/core/plan.hpp"

namespace rondo {

/// How many transfers an executor keeps under way beyond those of the earliest step that has not completed.
struct FlightLimits {
    std::uint32_t receives = 16;  // blocks from different peers do not come in the order in which they are needed
    std::uint32_t sends = 2;      // "about two were enough" on every network measured; more only fight for the wire
    /// Long messages with different peers share the wire, so that the one which others wait for comes late: one of more
    /// bytes than this waits until nothing with another peer is under way. Some latencies times the rate of usual
    /// networks; the blocks of pipelines are shorter. Not inside a node, where there is no wire;
    /// though what is under way there holds back what would leave.
    std::uint64_t competing_bytes = std::uint64_t{64} << 10;
};

/// A rank starts no step before all those before it are over, as MPI libraries do that send and receive and wait.
inline constexpr FlightLimits step_by_step = {.receives = 0, .sends = 0};

/// The rules, for one rank and one plan. `Board` derives from this and has the memory. It gives
///     plan()          with kind_of, step_of, peer_of, bytes_of, is_inside, next_to_peer and dependents of an action;
///                     peers may have any numbers that tell them apart, but no_rank
///     waits(index)    how many conditions are open, to be changed
///     ready(kind)     what waits for nothing and has not started: first() or Action::none, insert(index), and
///                     take(index) of the first; with the members under_way and peer: of all that are under way,
///                     no_rank if there are several
///     left(), earliest(), limits()    how many have not completed; all before the action `earliest` have
template <class Board>
class ScoreboardRules {
  public:
    /// The next action to start, which counts as started; Action::none if none may start before another completes.
    /// Earlier ones first, and receives before sends before local work, one piece at a time: the wire is never idle for
    /// want of a post.
    std::uint32_t next() {
        const std::uint32_t index = next_transfer();
        return index != Action::none || board().ready(ActionKind::copy).under_way > 0 ? index : next_local();
    }

    std::uint32_t next_transfer() {
        const std::uint32_t index = take(board().ready(ActionKind::receive), board().limits().receives);
        return index != Action::none ? index : take(board().ready(ActionKind::send), board().limits().sends);
    }

    std::uint32_t next_local() {
        auto&& local = board().ready(ActionKind::copy);
        const std::uint32_t index = local.first();
        if (index != Action::none) start(local, index);
        return index;
    }

    void complete(std::uint32_t index) {
        --board().ready(board().plan().kind_of(index)).under_way;
        --board().left();
        board().waits(index) = completed;
        for (const std::uint32_t dependent : board().plan().dependents(index)) satisfy(dependent);
    }

    /// The caller does this local work together with the last action that it waits for, and completes both by
    /// completing that one. False if the work waits for several.
    bool claim(std::uint32_t local) {
        if (board().waits(local) != 1) return false;
        board().waits(local) |= claimed;
        return true;
    }

    /// The earliest action that has not completed; for saying where a deadlock is. There must be one.
    [[nodiscard]] std::uint32_t first_incomplete() {
        std::uint32_t index = board().earliest();
        while (board().waits(index) == completed) ++index;
        return index;
    }

  private:
    friend Board;
    ScoreboardRules() = default;

    static constexpr std::uint32_t completed = ~std::uint32_t{0};
    static constexpr std::uint32_t claimed = std::uint32_t{1} << 31;

    Board& board() { return static_cast<Board&>(*this); }

    void satisfy(std::uint32_t index) {
        const std::uint32_t conditions = --board().waits(index);
        if (conditions == 0) board().ready(board().plan().kind_of(index)).insert(index);
        if (conditions == claimed) [[unlikely]] {
            ++board().ready(ActionKind::copy).under_way;
            complete(index);
        }
    }

    template <class Ready>
    std::uint32_t take(Ready&& ready, std::uint32_t limit) {
        const std::uint32_t index = ready.first();
        if (index == Action::none || (must_wait(ready, limit, index) && !in_earliest_step(index))) return Action::none;
        start(ready, index);
        const std::uint32_t follower = board().plan().next_to_peer(index);
        if (follower != Action::none) satisfy(follower);
        return index;
    }

    template <class Ready>
    void start(Ready& ready, std::uint32_t index) {
        ready.take(index);
        const Rank peer = board().plan().peer_of(index);
        ready.peer = ready.under_way == 0 || ready.peer == peer ? peer : no_rank;
        ++ready.under_way;
    }

    /// Should the next transfer of this direction wait until some complete?
    template <class Ready>
    [[nodiscard]] bool must_wait(const Ready& ready, std::uint32_t limit, std::uint32_t next) {
        if (ready.under_way >= limit) return true;
        const auto& plan = board().plan();
        return ready.under_way > 0 && plan.peer_of(next) != ready.peer &&
               plan.bytes_of(next) > board().limits().competing_bytes && !plan.is_inside(next);
    }

    bool in_earliest_step(std::uint32_t index) {
        board().earliest() = first_incomplete();
        return board().plan().step_of(index) == board().plan().step_of(board().earliest());
    }
};

/// Runs one plan at a time; reused, it allocates nothing. Borrows the plan from `start` until `done`.
class Scoreboard : public ScoreboardRules<Scoreboard> {
  public:
    explicit Scoreboard(FlightLimits limits = {}) : limits_(limits) {}

    void start(const Plan& plan, std::uint64_t bytes_per_element) {
        plan_ = {&plan, bytes_per_element};
        const auto waits_for = plan.waits_for();
        waits_for_.assign(waits_for.begin(), waits_for.end());
        incomplete_ = static_cast<std::uint32_t>(waits_for.size());
        earliest_ = 0;
        for (Ready* ready : {&receives_, &sends_, &local_}) {
            ready->queue.clear();
            ready->under_way = 0;
        }
        for (const std::uint32_t index : plan.ready_at_once()) ready(plan_.kind_of(index)).insert(index);
    }

    [[nodiscard]] bool done() const { return incomplete_ == 0; }
    [[nodiscard]] std::uint32_t incomplete() const { return incomplete_; }
    [[nodiscard]] bool local_work_ready() const { return !local_.queue.empty(); }

  private:
    friend class ScoreboardRules<Scoreboard>;

    struct Ready {
        std::vector<std::uint32_t> queue;  // a heap: the earliest action on top
        std::uint32_t under_way = 0;
        Rank peer = no_rank;

        [[nodiscard]] std::uint32_t first() const { return queue.empty() ? Action::none : queue.front(); }
        void insert(std::uint32_t index) {
            queue.push_back(index);
            std::push_heap(queue.begin(), queue.end(), std::greater<>());
        }
        void take(std::uint32_t /*first*/) {
            std::pop_heap(queue.begin(), queue.end(), std::greater<>());
            queue.pop_back();
        }
    };

    struct PlanInBytes {
        const Plan* plan = nullptr;
        std::uint64_t bytes_per_element = 1;

        [[nodiscard]] const Action& action(std::uint32_t index) const { return plan->actions()[index]; }
        [[nodiscard]] ActionKind kind_of(std::uint32_t index) const { return action(index).kind; }
        [[nodiscard]] std::uint32_t step_of(std::uint32_t index) const { return action(index).step; }
        [[nodiscard]] Rank peer_of(std::uint32_t index) const { return action(index).peer; }
        [[nodiscard]] bool is_inside(std::uint32_t index) const { return action(index).inside; }
        [[nodiscard]] std::uint64_t bytes_of(std::uint32_t index) const {
            return static_cast<std::uint64_t>(action(index).block.count) * bytes_per_element;
        }
        [[nodiscard]] std::uint32_t next_to_peer(std::uint32_t transfer) const { return plan->next_to_peer(transfer); }
        [[nodiscard]] auto dependents(std::uint32_t index) const { return plan->dependents(index); }
    };

    // For the rules.
    [[nodiscard]] const FlightLimits& limits() const { return limits_; }
    [[nodiscard]] const PlanInBytes& plan() const { return plan_; }
    std::uint32_t& waits(std::uint32_t index) { return waits_for_[index]; }
    std::uint32_t& left() { return incomplete_; }
    std::uint32_t& earliest() { return earliest_; }
    Ready& ready(ActionKind kind) {
        if (kind == ActionKind::receive) return receives_;
        return kind == ActionKind::send ? sends_ : local_;
    }

    FlightLimits limits_;
    PlanInBytes plan_;
    std::vector<std::uint32_t> waits_for_;
    Ready receives_, sends_, local_;
    std::uint32_t incomplete_ = 0;
    std::uint32_t earliest_ = 0;
};

}  // namespace rondo
