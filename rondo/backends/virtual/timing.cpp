// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/timing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

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
    timing.time_.reserve(problem.facts.size, problem.facts.placement);
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        const auto call = problem.call(rank);
        Plan plan = Plan::of(*call, problem.algorithm);
        for (const Action& action : plan.actions()) timing.messages_ += action.kind == ActionKind::send ? 1 : 0;
        if (timing.messages_ > most) return std::nullopt;
        timing.time_.add(std::move(plan), limits);
    }
    timing.match();
    return timing;
}

void Timing::match() {
    std::vector<End> sends, receives;
    sends.reserve(static_cast<std::size_t>(messages_));
    receives.reserve(static_cast<std::size_t>(messages_));
    for (std::uint32_t index = 0; index < time_.actions(); ++index) {
        const Action& action = time_.action(index);
        const Rank rank = time_.rank_of(index);
        if (action.kind == ActionKind::send) sends.push_back({rank, action.peer, index});
        if (action.kind == ActionKind::receive) receives.push_back({action.peer, rank, index});
    }
    const auto ranks = static_cast<std::size_t>(time_.size());
    // In the order in which MPI matches: by sender, receiver and position among their messages.
    sort_by(&End::to, sends, ranks);
    sort_by(&End::from, sends, ranks);
    sort_by(&End::from, receives, ranks);
    counterpart_.resize(time_.actions());
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        const bool paired = i < sends.size() && i < receives.size() && sends[i].from == receives[i].from &&
                            sends[i].to == receives[i].to &&
                            time_.action(sends[i].action).block.count == time_.action(receives[i].action).block.count;
        if (!paired) {
            const std::uint32_t lone = i < sends.size() ? sends[i].action : receives[i].action;
            throw Error(where(time_.rank_of(lone), time_.owner(lone).plan, time_.action(lone)) +
                        "has no counterpart of the same count");
        }
        counterpart_[sends[i].action] = receives[i].action;
        counterpart_[receives[i].action] = sends[i].action;
    }
}

double Timing::time(const CostModel& costs, Count element_bytes) { return time_.run(costs, element_bytes, *this); }

void Timing::start(VirtualRank& state, const Action& action, std::uint32_t index) {
    switch (action.kind) {
        case ActionKind::receive: time_.post_receive(state, action, index, *this); break;
        case ActionKind::send: time_.post_send(state, action, index, *this); break;
        case ActionKind::combine: time_.work(state, time_.seconds_of_combine(action.block), 0, index); break;
        case ActionKind::copy: time_.work(state, 0, 0, index); break;
    }
}

double time_of(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
               const CostModel& costs, const FlightLimits& limits) {
    auto timing = Timing::of(Problem{algorithm, facts, settings}, limits);
    if (!timing) {
        throw Error(std::string(algorithm.name) + ": more than " + std::to_string(Timing::most_messages) +
                    " messages cannot be timed; take larger segments or fewer ranks");
    }
    return timing->time(costs, facts.element_bytes);
}

}  // namespace rondo::virtual_machine
