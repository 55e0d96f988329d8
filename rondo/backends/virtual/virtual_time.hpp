// SPDX-License-Identifier: BSD-3-Clause
// The machine on which plans run in virtual time: when every rank's processor and wires are free, what completes next,
// and what may start then. It knows no data and matches no messages: whoever runs plans on it does (dataflow.hpp with
// symbols, to prove; timing.hpp with nothing, to be quick). Header only, so that each way to look at it is compiled
// into its own loop.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::virtual_machine {

struct VirtualRank {
    Plan plan;
    std::uint32_t first;  ///< action of the rank, in the numbering of all actions
    Scoreboard scoreboard;
    double egress_free = 0, ingress_free = 0;  ///< when the wire is idle again
    double processor_free = 0;
};

class VirtualTime {
  public:
    void reserve(Rank ranks) { ranks_.reserve(static_cast<std::size_t>(ranks)); }
    /// The next rank.
    void add(Plan plan, const FlightLimits& limits) {
        const auto first = static_cast<std::uint32_t>(rank_of_.size());
        rank_of_.resize(rank_of_.size() + plan.actions().size(), size());
        ranks_.push_back({std::move(plan), first, Scoreboard(limits)});
    }

    /// Runs all plans from the start. `runner.start(state, action, index)` is to charge what an action takes and to
    /// schedule its completion, now or when its message meets its counterpart; `runner.complete(state, action, index)`
    /// sees it complete. Indices are among all actions. Returns when the last has completed; throws Error for a
    /// deadlock.
    template <class Runner>
    double run(const CostModel& costs, Count element_bytes, Runner& runner) {
        begin(costs, element_bytes);
        for (VirtualRank& state : ranks_) start_actions(state, runner);
        while (!events_.empty()) {
            const std::uint32_t index = next_event();
            VirtualRank& state = at(rank_of_[index]);
            const std::uint32_t own = index - state.first;
            runner.complete(state, state.plan.actions()[own], index);
            state.scoreboard.complete(own);
            start_actions(state, runner);
        }
        for (const VirtualRank& state : ranks_) {
            if (state.scoreboard.done()) continue;
            throw Error(where(rank_of(state), state.plan, state.plan.actions()[state.scoreboard.first_incomplete()]) +
                        "deadlock: never completes");
        }
        return now_;
    }

    // What takes how long. Of actions that start now:
    double take_message(VirtualRank& state) const { return state.processor_free += costs_.overhead; }
    double take_combine(VirtualRank& state, const Block& block) const {
        return state.processor_free += seconds_of_combine(block);
    }
    /// A message that is ready takes the wire, as soon as that is idle; when its first byte leaves.
    double leave(VirtualRank& sender, double ready, const Block& block) const {
        const double start = std::max(sender.egress_free, ready);
        sender.egress_free = start + costs_.beta * bytes(block);
        return start;
    }
    /// A message, whose last byte would arrive at `ready` at an idle receiver, arrives; when it has.
    double arrive(VirtualRank& receiver, double ready, const Block& block) const {
        return receiver.ingress_free = std::max(ready, receiver.ingress_free + costs_.beta * bytes(block));
    }

    void schedule(double time, std::uint32_t index) {
        events_.push_back(Event{std::bit_cast<std::uint64_t>(time)} << 64 | Event{order_++} << 32 | index);
        std::push_heap(events_.begin(), events_.end(), std::greater<>());
    }

    [[nodiscard]] double now() const { return now_; }
    [[nodiscard]] double alpha() const { return costs_.alpha; }
    [[nodiscard]] double seconds_of_combine(const Block& block) const { return costs_.gamma * bytes(block); }
    [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
    [[nodiscard]] std::uint32_t actions() const { return static_cast<std::uint32_t>(rank_of_.size()); }
    [[nodiscard]] VirtualRank& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] Rank rank_of(const VirtualRank& state) const { return static_cast<Rank>(&state - ranks_.data()); }
    [[nodiscard]] Rank rank_of(std::uint32_t index) const { return rank_of_[index]; }
    [[nodiscard]] VirtualRank& owner(std::uint32_t index) { return at(rank_of_[index]); }
    [[nodiscard]] const Action& action(std::uint32_t index) {
        const VirtualRank& state = owner(index);
        return state.plan.actions()[index - state.first];
    }

  private:
    /// The completion of an action. Of equal times, the one scheduled first comes first. One number, from the top: the
    /// bits of the time, which is not negative, the order, the action. So a heap compares without branches.
    __extension__ using Event = unsigned __int128;

    [[nodiscard]] double bytes(const Block& block) const { return static_cast<double>(block.count * element_bytes_); }

    void begin(const CostModel& costs, Count element_bytes) {
        costs_ = costs;
        element_bytes_ = element_bytes;
        now_ = 0;
        order_ = 0;
        for (VirtualRank& state : ranks_) {
            state.egress_free = state.ingress_free = state.processor_free = 0;
            state.scoreboard.start(state.plan, static_cast<std::uint64_t>(element_bytes));
        }
    }

    template <class Runner>
    void start_actions(VirtualRank& state, Runner& runner) {
        for (std::uint32_t own; (own = state.scoreboard.next()) != Action::none;) {
            state.processor_free = std::max(state.processor_free, now_);
            runner.start(state, state.plan.actions()[own], state.first + own);
        }
    }

    /// What completes next, at what is now the time.
    std::uint32_t next_event() {
        const Event event = events_.front();
        std::pop_heap(events_.begin(), events_.end(), std::greater<>());
        events_.pop_back();
        now_ = std::bit_cast<double>(static_cast<std::uint64_t>(event >> 64));
        return static_cast<std::uint32_t>(event);
    }

    std::vector<VirtualRank> ranks_;
    std::vector<Rank> rank_of_;  // of each action
    std::vector<Event> events_;  // a heap
    CostModel costs_;
    Count element_bytes_ = 1;
    double now_ = 0;
    std::uint32_t order_ = 0;
};

}  // namespace rondo::virtual_machine
