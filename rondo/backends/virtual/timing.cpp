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

std::optional<Timing> Timing::of(const Problem& problem, const FlightLimits& limits, Count most,
                                 const Deadline& deadline) {
    Timing timing;
    timing.time_.reserve(problem.facts.size, problem.facts.placement);
    timing.time_.keep(deadline);
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        deadline.check();
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

double Timing::time(const CostModel& costs, Count element_bytes, std::span<const double> ready) {
    return time_.run(costs, element_bytes, *this, ready);
}

/// A run that keeps in mind which rank's coming everything is due to. What may be due to several is due to one of them.
class Timing::Witness {
  public:
    Witness(Timing& timing, std::vector<Finish>& finishes)
        : timing_(timing), time_(timing.time_), finishes_(finishes), due_to_(timing.time_.actions()) {
        const auto ranks = static_cast<Rank>(finishes.size());
        latest_.reserve(finishes.size());
        for (Rank rank = 0; rank < ranks; ++rank) latest_.push_back({rank, rank});
    }

    void start(VirtualRank& state, const Action& action, std::uint32_t index) {
        Latest& latest = latest_[static_cast<std::size_t>(time_.rank_of(state))];
        // It waits for its rank's processor, or else it could not start before what has just completed.
        if (state.processor_free <= time_.now()) latest.on_processor = latest.completed;
        due_to_[index] = latest.on_processor;
        timing_.start_on(state, action, index, *this);
    }
    void complete(const VirtualRank& state, const Action& /*action*/, std::uint32_t index) {
        const auto rank = static_cast<std::size_t>(time_.rank_of(state));
        latest_[rank].completed = due_to_[index];
        finishes_[rank] = {time_.now(), due_to_[index]};
    }
    void arrived(std::uint32_t sent, std::uint32_t received, double time) {
        if (time > time_.posted_at(received)) due_to_[received] = due_to_[sent];
    }
    [[nodiscard]] std::uint32_t post(const VirtualRank& state, const Action& action, std::uint32_t index) const {
        return timing_.post(state, action, index);
    }
    [[nodiscard]] std::uint32_t counterpart(std::uint32_t index) const { return timing_.counterpart(index); }
    [[nodiscard]] static bool asks(std::uint32_t index, bool is_long) { return Timing::asks(index, is_long); }
    void left(std::uint32_t /*index*/, double /*time*/) const {}
    [[nodiscard]] static double delay() { return 0; }

  private:
    /// What a rank completed last and what its processor did last: due to whom.
    struct Latest {
        Rank completed, on_processor;
    };

    Timing& timing_;
    VirtualTime& time_;
    std::vector<Finish>& finishes_;
    std::vector<Rank> due_to_;  // by action
    std::vector<Latest> latest_;
};

std::vector<Timing::Finish> Timing::finishes(const CostModel& costs, Count element_bytes,
                                             std::span<const double> ready) {
    std::vector<Finish> finishes;
    finishes.reserve(static_cast<std::size_t>(time_.size()));
    for (Rank rank = 0; rank < time_.size(); ++rank) {
        const auto place = static_cast<std::size_t>(rank);  // whether there are as many, the run finds out
        finishes.push_back({place < ready.size() ? ready[place] : 0, rank});
    }
    Witness witness(*this, finishes);
    time_.run(costs, element_bytes, witness, ready);
    return finishes;
}

void Timing::start(VirtualRank& state, const Action& action, std::uint32_t index) {
    start_on(state, action, index, *this);
}

template <class Runner>
void Timing::start_on(VirtualRank& state, const Action& action, std::uint32_t index, Runner& runner) {
    switch (action.kind) {
        case ActionKind::receive: time_.post_receive(state, action, index, runner); break;
        case ActionKind::send: time_.post_send(state, action, index, runner); break;
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
