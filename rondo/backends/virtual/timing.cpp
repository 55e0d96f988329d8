// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/timing.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <utility>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr double not_posted = -1;

/// One end of a message.
struct End {
    Rank from, to;
    std::uint32_t action;
};

/// Sorts by a rank of less than `ranks`; equal ones keep their order.
void sort_by(Rank End::* key, std::vector<End>& ends, std::size_t ranks) {
    std::vector<std::uint32_t> next(ranks + 1);
    for (const End& end : ends) ++next[static_cast<std::size_t>(end.*key) + 1];
    for (std::size_t rank = 1; rank <= ranks; ++rank) next[rank] += next[rank - 1];
    std::vector<End> sorted(ends.size());
    for (const End& end : ends) sorted[next[static_cast<std::size_t>(end.*key)]++] = end;
    ends.swap(sorted);
}

}  // namespace

std::optional<Timing> Timing::of(const Problem& problem, const FlightLimits& limits, Count most) {
    Timing timing;
    timing.ranks_.reserve(static_cast<std::size_t>(problem.facts.size));
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        if (!timing.add(problem, rank, limits, most)) return std::nullopt;
    }
    timing.match();
    return timing;
}

bool Timing::add(const Problem& problem, Rank rank, const FlightLimits& limits, Count most) {
    const auto call = problem.call(rank);
    Plan plan = Plan::of(*call, problem.algorithm);
    for (const Action& action : plan.actions()) messages_ += action.kind == ActionKind::send ? 1 : 0;
    if (messages_ > most) return false;
    const auto first = static_cast<std::uint32_t>(rank_of_.size());
    rank_of_.resize(rank_of_.size() + plan.actions().size(), rank);
    ranks_.push_back({std::move(plan), first, Scoreboard(limits)});
    return true;
}

void Timing::match() {
    std::vector<End> sends, receives;
    sends.reserve(static_cast<std::size_t>(messages_));
    receives.reserve(static_cast<std::size_t>(messages_));
    const auto action_of = [&](std::uint32_t index) -> const Action& {
        const VirtualRank& owner = at(rank_of_[index]);
        return owner.plan.actions()[index - owner.first];
    };
    for (std::uint32_t index = 0; index < rank_of_.size(); ++index) {
        const Action& action = action_of(index);
        const Rank rank = rank_of_[index];
        if (action.kind == ActionKind::send) sends.push_back({rank, action.peer, index});
        if (action.kind == ActionKind::receive) receives.push_back({action.peer, rank, index});
    }
    // In the order in which MPI matches: by sender, receiver and position among their messages.
    sort_by(&End::to, sends, ranks_.size());
    sort_by(&End::from, sends, ranks_.size());
    sort_by(&End::from, receives, ranks_.size());
    counterpart_.resize(rank_of_.size());
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        const bool paired = i < sends.size() && i < receives.size() && sends[i].from == receives[i].from &&
                            sends[i].to == receives[i].to &&
                            action_of(sends[i].action).block.count == action_of(receives[i].action).block.count;
        if (!paired) {
            const std::uint32_t lone = i < sends.size() ? sends[i].action : receives[i].action;
            throw Error(where(rank_of_[lone], action_of(lone)) + "has no counterpart of the same count");
        }
        counterpart_[sends[i].action] = receives[i].action;
        counterpart_[receives[i].action] = sends[i].action;
    }
}

double Timing::time(const CostModel& costs, Count element_bytes) {
    begin(costs, element_bytes);
    for (Rank rank = 0; rank < static_cast<Rank>(ranks_.size()); ++rank) start_actions(rank);
    while (!events_.empty()) {
        const std::uint32_t action = next_event();
        const Rank rank = rank_of_[action];
        VirtualRank& state = at(rank);
        state.scoreboard.complete(action - state.first);
        start_actions(rank);
    }
    for (const VirtualRank& state : ranks_) {
        if (state.scoreboard.done()) continue;
        throw Error(where(static_cast<Rank>(&state - ranks_.data()),
                          state.plan.actions()[state.scoreboard.first_incomplete()]) +
                    "deadlock: never completes");
    }
    return now_;
}

void Timing::begin(const CostModel& costs, Count element_bytes) {
    costs_ = costs;
    element_bytes_ = element_bytes;
    now_ = 0;
    order_ = 0;
    ready_.assign(rank_of_.size(), not_posted);
    for (VirtualRank& state : ranks_) {
        state.egress_free = state.ingress_free = state.processor_free = 0;
        state.scoreboard.start(state.plan, static_cast<std::uint64_t>(element_bytes));
    }
}

void Timing::start_actions(Rank rank) {
    VirtualRank& state = at(rank);
    for (std::uint32_t i; (i = state.scoreboard.next()) != Action::none;) {
        start(state, state.plan.actions()[i], state.first + i);
    }
}

// The same operations on the same numbers in the same order as in run_dataflow: the times are equal to the last bit.
void Timing::start(VirtualRank& state, const Action& action, std::uint32_t index) {
    state.processor_free = std::max(state.processor_free, now_);
    switch (action.kind) {
        case ActionKind::receive:
            state.processor_free += costs_.overhead;
            ready_[index] = state.processor_free;
            if (ready_[counterpart_[index]] != not_posted) meet(counterpart_[index], index);
            break;
        case ActionKind::send: start_send(state, action, index); break;
        case ActionKind::combine: state.processor_free += costs_.gamma * bytes(action.into); [[fallthrough]];
        case ActionKind::copy: schedule(state.processor_free, index); break;
    }
}

void Timing::start_send(VirtualRank& state, const Action& action, std::uint32_t index) {
    state.processor_free += costs_.overhead;
    state.egress_free = std::max(state.egress_free, state.processor_free) + costs_.beta * bytes(action.block);
    ready_[index] = state.egress_free + costs_.alpha;
    schedule(state.egress_free, index);
    if (ready_[counterpart_[index]] != not_posted) meet(index, counterpart_[index]);
}

void Timing::meet(std::uint32_t sent, std::uint32_t received) {
    VirtualRank& receiver = at(rank_of_[received]);
    const double on_wire = costs_.beta * bytes(receiver.plan.actions()[received - receiver.first].block);
    receiver.ingress_free = std::max(std::max(ready_[sent], ready_[received]), receiver.ingress_free + on_wire);
    schedule(receiver.ingress_free, received);
}

void Timing::schedule(double time, std::uint32_t action) {
    events_.push_back(Event{std::bit_cast<std::uint64_t>(time)} << 64 | Event{order_++} << 32 | action);
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

/// What completes next, at what is now the time.
std::uint32_t Timing::next_event() {
    const Event event = events_.front();
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    events_.pop_back();
    now_ = std::bit_cast<double>(static_cast<std::uint64_t>(event >> 64));
    return static_cast<std::uint32_t>(event);
}

double time_of(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
               const CostModel& costs, const FlightLimits& limits) {
    auto timing = Timing::of(Problem{algorithm, facts, settings}, limits);
    if (!timing) {
        throw Error(std::string(algorithm.name) + ": more than " + std::to_string(Timing::most_messages) +
                    " messages cannot be timed; take larger segments or fewer ranks");
    }
    return timing->time(costs, facts.element_bytes);
}

}  // namespace rondo::virtual_machine
