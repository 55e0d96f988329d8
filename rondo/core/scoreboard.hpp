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

/// Runs one plan at a time; reused, it allocates nothing. Borrows the plan from `start` until `done`.
class Scoreboard {
  public:
    explicit Scoreboard(FlightLimits limits = {}) : limits_(limits) {}

    void start(const Plan& plan, std::uint64_t bytes_per_element) {
        plan_ = &plan;
        bytes_per_element_ = bytes_per_element;
        const auto waits_for = plan.waits_for();
        waits_for_.assign(waits_for.begin(), waits_for.end());
        incomplete_ = static_cast<std::uint32_t>(waits_for.size());
        earliest_ = 0;
        for (Ready* ready : {&receives_, &sends_, &local_}) {
            ready->queue.clear();
            ready->under_way = 0;
        }
        for (const std::uint32_t index : plan.ready_at_once()) make_ready(index);
    }

    [[nodiscard]] bool done() const { return incomplete_ == 0; }

    [[nodiscard]] std::uint32_t incomplete() const { return incomplete_; }

    /// The next action to start, which counts as started; Action::none if none may start before another completes.
    /// Earlier ones first, and receives before sends before local work, one piece at a time: the wire is never idle for
    /// want of a post.
    std::uint32_t next() {
        const std::uint32_t index = next_transfer();
        return index != Action::none || local_.under_way > 0 ? index : next_local();
    }

    std::uint32_t next_transfer() {
        const std::uint32_t index = take(receives_, limits_.receives);
        return index != Action::none ? index : take(sends_, limits_.sends);
    }

    std::uint32_t next_local() { return local_.queue.empty() ? Action::none : pop(local_); }

    [[nodiscard]] bool local_work_ready() const { return !local_.queue.empty(); }

    void complete(std::uint32_t index) {
        --of(plan_->actions()[index].kind).under_way;
        --incomplete_;
        waits_for_[index] = completed;
        for (const std::uint32_t dependent : plan_->dependents(index)) satisfy(dependent);
    }

    /// The caller does this local work together with the last action that it waits for, and completes both by
    /// completing that one. False if the work waits for several.
    bool claim(std::uint32_t local) {
        if (waits_for_[local] != 1) return false;
        waits_for_[local] |= claimed;
        return true;
    }

    /// The earliest action that has not completed; for saying where a deadlock is.
    [[nodiscard]] std::uint32_t first_incomplete() const {
        std::uint32_t index = earliest_;
        while (index < waits_for_.size() && waits_for_[index] == completed) ++index;
        return index;
    }

  private:
    static constexpr std::uint32_t completed = ~std::uint32_t{0};
    static constexpr std::uint32_t claimed = std::uint32_t{1} << 31;

    struct Ready {
        std::vector<std::uint32_t> queue;  // a heap: the earliest action on top
        std::uint32_t under_way = 0;
        Rank peer = no_rank;  // of all that are under way; no_rank if there are several
    };

    [[nodiscard]] std::uint64_t bytes(const Action& action) const {
        return static_cast<std::uint64_t>(action.block.count) * bytes_per_element_;
    }

    Ready& of(ActionKind kind) {
        if (kind == ActionKind::receive) return receives_;
        return kind == ActionKind::send ? sends_ : local_;
    }

    void make_ready(std::uint32_t index) {
        auto& queue = of(plan_->actions()[index].kind).queue;
        queue.push_back(index);
        std::push_heap(queue.begin(), queue.end(), std::greater<>());
    }

    void satisfy(std::uint32_t index) {
        const std::uint32_t conditions = --waits_for_[index];
        if (conditions == 0) make_ready(index);
        if (conditions == claimed) [[unlikely]] {
            ++local_.under_way;
            complete(index);
        }
    }

    std::uint32_t take(Ready& ready, std::uint32_t limit) {
        if (ready.queue.empty()) return Action::none;
        if (is_crowded(ready, limit) && !in_earliest_step(ready.queue.front())) {
            return Action::none;
        }
        const std::uint32_t index = pop(ready);
        const std::uint32_t follower = plan_->next_to_peer(index);
        if (follower != Action::none) satisfy(follower);
        return index;
    }

    std::uint32_t pop(Ready& ready) {
        const std::uint32_t index = ready.queue.front();
        std::pop_heap(ready.queue.begin(), ready.queue.end(), std::greater<>());
        ready.queue.pop_back();
        const Action& action = plan_->actions()[index];
        ready.peer = ready.under_way == 0 || ready.peer == action.peer ? action.peer : no_rank;
        ++ready.under_way;
        return index;
    }

    /// Should the next transfer of this direction wait until some complete?
    [[nodiscard]] bool is_crowded(const Ready& ready, std::uint32_t limit) const {
        if (ready.under_way >= limit) return true;
        const Action& next = plan_->actions()[ready.queue.front()];
        return ready.under_way > 0 && next.peer != ready.peer && bytes(next) > limits_.competing_bytes && !next.inside;
    }

    bool in_earliest_step(std::uint32_t index) {
        earliest_ = first_incomplete();
        return plan_->actions()[index].step == plan_->actions()[earliest_].step;
    }

    FlightLimits limits_;
    const Plan* plan_ = nullptr;
    std::uint64_t bytes_per_element_ = 1;
    std::vector<std::uint32_t> waits_for_;
    Ready receives_, sends_, local_;
    std::uint32_t incomplete_ = 0;
    std::uint32_t earliest_ = 0;  // all before it have completed
};

}  // namespace rondo
