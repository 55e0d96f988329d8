// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/timing.hpp"

#include <string>
#include <utility>

#include "rondo/backends/virtual/symmetry.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

constexpr std::uint32_t none = Action::none;

/// Where a rank speaks to another one.
struct Edge {
    Rank peer;
    std::uint32_t number;  ///< of the peer among the rank's
};

/// Those of each rank to the others, by peer; and those of others to each rank, by rank.
class Edges {
  public:
    explicit Edges(const VirtualTime& time) : first_(static_cast<std::size_t>(time.size()) + 1) {
        for (Rank rank = 0; rank < time.size(); ++rank) {
            for (const Rank peer : time.peers_of(rank)) ++first_[static_cast<std::size_t>(peer) + 1];
        }
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        to_.resize(first_.back());
        auto next = first_;
        for (Rank rank = 0; rank < time.size(); ++rank) {
            std::uint32_t number = 0;
            for (const Rank peer : time.peers_of(rank)) to_[next[static_cast<std::size_t>(peer)]++] = {rank, number++};
        }
    }

    [[nodiscard]] std::span<const Edge> to(Rank rank) const {
        const std::size_t first = first_[static_cast<std::size_t>(rank)];
        return {to_.data() + first, first_[static_cast<std::size_t>(rank) + 1] - first};
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<Edge> to_;
};

}  // namespace
std::optional<Timing> Timing::of(const Problem& problem, const FlightLimits& limits, Count most) {
    Timing timing;
    const NodesOf nodes(problem.facts);
    timing.time_.reserve(problem.facts.size, nodes.size(), nodes.are_shared(), limits);
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        const auto call = problem.call(rank);
        const Plan plan = Plan::of(*call, problem.algorithm);
        timing.messages_ += messages_of(plan);
        if (timing.messages_ > most) return std::nullopt;
        const PlanShape& shape = timing.time_.shapes().of(plan, problem.facts.size, nodes.beside(rank));
        timing.time_.add(shape, timing.time_.shapes().peers(), nodes.of(rank));
    }
    if (const auto lone = timing.match()) {
        const auto call = problem.call(lone->rank);
        const Plan plan = Plan::of(*call, problem.algorithm);
        throw Error(virtual_machine::where(lone->rank, plan, plan.actions()[lone->own]) +
                    "has no counterpart of the same count");
    }
    return timing;
}

std::optional<Timing> Timing::of_one_node(const Problem& problem, const FlightLimits& limits, Count most) {
    Timing timing;
    const auto node = NodeForAll::of(problem, timing.time_.shapes(), most);
    if (!node) return std::nullopt;
    const auto ranks = static_cast<Rank>(node->ranks.size());
    timing.time_.reserve(ranks, 1, ranks > 1, limits);
    for (const RankForAll& rank : node->ranks) {
        std::vector<Rank> peers;
        peers.reserve(rank.peers.size());
        for (const PeerForAll& peer : rank.peers) peers.push_back(peer.number);
        timing.time_.add(*rank.shape, peers, 0);
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
        const RankForAll& own = node->ranks[static_cast<std::size_t>(rank)];
        for (std::size_t number = 0; number < own.peers.size(); ++number) {
            const auto& [peer, counterpart] = own.peers[number];
            const PlanShape& other = *node->ranks[static_cast<std::size_t>(peer)].shape;
            if (timing.match_from(rank, own.shape->first_send[number], peer, other.first_receive[counterpart]))
                return std::nullopt;
        }
    }
    timing.messages_ = node->messages;
    return timing;
}

/// In the order in which MPI matches: by sender, receiver and position among their messages.
std::optional<Site> Timing::match() {
    const Edges edges(time_);
    std::vector<std::uint32_t> number_of(static_cast<std::size_t>(time_.size()), none);  // of each peer of a rank
    for (Rank rank = 0; rank < time_.size(); ++rank) {
        const PlanShape& shape = *time_.at(rank).shape;
        const auto peers = time_.peers_of(rank);
        for (std::uint32_t number = 0; number < peers.size(); ++number) {
            number_of[static_cast<std::size_t>(peers[number])] = number;
        }
        for (const Edge& from : edges.to(rank)) {
            const std::uint32_t own = std::exchange(number_of[static_cast<std::size_t>(from.peer)], none);
            const std::uint32_t sent = time_.at(from.peer).shape->first_send[from.number];
            const std::uint32_t received = own == none ? none : shape.first_receive[own];
            if (const auto lone = match_from(from.peer, sent, rank, received)) return lone;
        }
        for (std::uint32_t number = 0; number < peers.size(); ++number) {
            if (std::exchange(number_of[static_cast<std::size_t>(peers[number])], none) == none) continue;
            const std::uint32_t received = shape.first_receive[number];
            return Site{rank, received != none ? received : shape.first_send[number]};
        }
    }
    return std::nullopt;
}

std::optional<Site> Timing::match_from(Rank from, std::uint32_t sent, Rank to, std::uint32_t received) {
    const auto &sends = time_.at(from).shape->actions, &receives = time_.at(to).shape->actions;
    while (sent != none || received != none) {
        if (sent == none) return Site{to, received};
        if (received == none || sends[sent].count != receives[received].count) return Site{from, sent};
        time_.progress({from, sent}).counterpart = received;
        time_.progress({to, received}).counterpart = sent;
        sent = sends[sent].next_to_peer;
        received = receives[received].next_to_peer;
    }
    return std::nullopt;
}

std::string Timing::where(const Site& site) const {
    const ShapedAction& action = time_.action(site);
    std::string text = "rank " + std::to_string(site.rank) + ", step " + std::to_string(action.step);
    if (action.is_transfer()) {
        text += action.kind == ActionKind::send ? " (send to " : " (receive from ";
        text += std::to_string(time_.peer(site)) + ")";
    }
    return text + ": ";
}

double Timing::time(const CostModel& costs, Count element_bytes, std::span<const double> ready) {
    return time_.run(costs, element_bytes, *this, ready);
}

std::optional<double> Timing::time_if_it_ends(const CostModel& costs, Count element_bytes) {
    try {
        return time(costs, element_bytes);
    } catch (const Deadlock&) {
        return std::nullopt;
    }
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

    void start(const Site& site) {
        Latest& latest = latest_[static_cast<std::size_t>(site.rank)];
        // It waits for its rank's processor, or else it could not start before what has just completed.
        if (time_.at(site.rank).processor_free <= time_.now()) latest.on_processor = latest.completed;
        due_to(site) = latest.on_processor;
        timing_.start_on(site, *this);
    }
    void complete(const Site& site) {
        const auto rank = static_cast<std::size_t>(site.rank);
        latest_[rank].completed = due_to(site);
        finishes_[rank] = {time_.now(), due_to(site)};
    }
    void arrived(const Site& sent, const Site& received, double time) {
        if (time > time_.posted_at(received)) due_to(received) = due_to(sent);
    }
    [[nodiscard]] std::uint32_t post(const Site& site) const { return timing_.post(site); }
    [[nodiscard]] std::uint32_t counterpart(const Site& site) const { return timing_.counterpart(site); }
    [[nodiscard]] static bool asks(const Site& site, bool is_long) { return Timing::asks(site, is_long); }
    void left(const Site& /*site*/, double /*time*/) const {}
    [[nodiscard]] static double delay() { return 0; }
    [[nodiscard]] std::string where(const Site& site) const { return timing_.where(site); }

  private:
    /// What a rank completed last and what its processor did last: due to whom.
    struct Latest {
        Rank completed, on_processor;
    };

    Rank& due_to(const Site& site) { return due_to_[time_.index_of(site)]; }

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

void Timing::start(const Site& site) { start_on(site, *this); }

template <class Runner>
void Timing::start_on(const Site& site, Runner& runner) {
    const ShapedAction& action = time_.action(site);
    switch (action.kind) {
        case ActionKind::receive: time_.post_receive(site, runner); break;
        case ActionKind::send: time_.post_send(site, runner); break;
        case ActionKind::combine: time_.work(site, time_.seconds_of(action), 0); break;
        case ActionKind::copy: time_.work(site, 0, 0); break;
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
