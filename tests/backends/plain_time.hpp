// SPDX-License-Identifier: BSD-3-Clause
// Virtual time as plainly as it can be written: a plan and a scoreboard for every rank, a binary heap of events, wires
// that look for whose turn it is. It says what rondo/backends/virtual has to find, to the last bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/scoreboard.hpp"
#include "tests/backends/plain_wire.hpp"

namespace rondo::virtual_machine::plain {

/// When it is idle again, in each direction.
struct Wire {
    double egress_free = 0, ingress_free = 0;
    double ingress_from = 0;  ///< since when it has been busy, when it was last
};

struct VirtualRank {
    Plan plan;
    std::uint32_t first;  ///< action of the rank, in the numbering of all actions
    Scoreboard scoreboard;
    Rank node;
    Wire wire = {};  ///< its own
    double processor_free = 0;
};

/// Tells a runner what happens, as rondo/backends/virtual/virtual_time.hpp does.
class VirtualTime {
  public:
    /// Where the ranks that are added from now on are; nullptr: each is a node of its own.
    void reserve(Rank ranks, const Placement* placement) {
        ranks_.reserve(static_cast<std::size_t>(ranks));
        placement_ = placement != nullptr && placement->most_on_node() > 1 ? placement : nullptr;
        has_nodes_ = placement_ != nullptr;
        nodes_ = has_nodes_ ? placement_->nodes() : ranks;
    }
    /// The next rank.
    void add(Plan plan, const FlightLimits& limits) {
        const auto first = static_cast<std::uint32_t>(rank_of_.size());
        rank_of_.resize(rank_of_.size() + plan.actions().size(), size());
        ranks_.push_back(
            {std::move(plan), first, Scoreboard(limits), has_nodes_ ? placement_->place(size()).node : size()});
    }

    /// Runs all plans from the start. Returns when the last action has completed; throws Error for a deadlock.
    /// `ready`: when each rank comes to the call, which does nothing before, not even receive; empty: all at 0.
    template <class Runner>
    double run(const CostModel& costs, Count element_bytes, Runner& runner, std::span<const double> ready = {}) {
        begin(costs, element_bytes, ready);
        for (VirtualRank& state : ranks_) {
            const double time = state.processor_free;
            if (time > 0) schedule(time, static_cast<std::uint32_t>(rank_of(state)) | comes);
            else start_actions(state, runner);
        }
        while (!events_.empty()) {
            const std::uint32_t index = next_event();
            if (index > index_bits) [[unlikely]] {
                go_on(index, runner);
                continue;
            }
            VirtualRank& state = owner(index);
            const std::uint32_t own = index - state.first;
            runner.complete(state, state.plan.actions()[own], index);
            state.scoreboard.complete(own);
            start_actions(state, runner);
        }
        for (VirtualRank& state : ranks_) {
            if (state.scoreboard.done()) continue;
            throw Error(where(rank_of(state), state.plan, state.plan.actions()[state.scoreboard.first_incomplete()]) +
                        "deadlock: never completes");
        }
        return now_;
    }

    // What a runner starts now. It completes later, transfers in their time.

    void work(VirtualRank& state, double seconds, double delay, std::uint32_t index) {
        state.processor_free += seconds;
        schedule(state.processor_free + delay, index);
    }

    template <class Runner>
    void post_receive(VirtualRank& state, const Action& action, std::uint32_t index, Runner& runner) {
        const Link& link = link_between(state, action.peer);
        ready_[index] = state.processor_free += link.overhead;
        const std::uint32_t sent = runner.post(state, action, index);
        if (sent != Action::none) meet(link, bytes(action.block), state, sent, index, runner);
    }

    template <class Runner>
    void post_send(VirtualRank& state, const Action& action, std::uint32_t index, Runner& runner) {
        const Link& link = link_between(state, action.peer);
        const double length = bytes(action.block);
        const double ready = ready_[index] = state.processor_free += link.overhead;
        if (!runner.asks(index, length > link.eager)) {
            if (link.pooled && ready > now_) leave_at(ready, index);
            else leave(state, link, length, index, runner);
        }
        const std::uint32_t received = runner.post(state, action, index);
        if (received != Action::none) meet(link, length, at(action.peer), index, received, runner);
    }

    /// Of a transfer, in this run.
    [[nodiscard]] bool is_posted(std::uint32_t index) const { return ready_[index] != not_posted; }
    /// When a receive that is posted was.
    [[nodiscard]] double posted_at(std::uint32_t receive) const { return ready_[receive]; }
    [[nodiscard]] double now() const { return now_; }
    [[nodiscard]] double seconds_of_combine(const Block& block) const { return gamma_ * bytes(block); }
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
    /// What happens to an action at a time. Of equal times, the one scheduled first comes first. One number, from the
    /// top: the bits of the time, which is not negative, the order, the action, which completes unless one of these
    /// bits says otherwise. So a heap compares without branches.
    __extension__ using Event = unsigned __int128;
    static constexpr std::uint32_t leaves = 1U << 31;    // a send takes a wire
    static constexpr std::uint32_t comes_in = 1U << 30;  // the first byte of a send reaches the receiver's lanes
    static constexpr std::uint32_t on_wire = 1U << 29;   // a message is through the shared wire of this number
    static constexpr std::uint32_t comes = 1U << 28;     // the rank of this number comes to the call
    static constexpr std::uint32_t index_bits = comes - 1;

    static constexpr double not_posted = -1;
    static constexpr double at_receiver = -2;  // all but what is still on the way
    static constexpr double under_way = std::numeric_limits<double>::infinity();

    struct WireInUse {
        SharedWire wire;
        std::uint32_t event;  // the order of the only one that counts
    };

    /// The costs of a class of links.
    struct Link {
        double alpha, beta, overhead;
        double eager, rendezvous;
        bool pooled;  // through the lanes of nodes, in the order in which messages come there; else each rank's wire
    };

    [[nodiscard]] double bytes(const Block& block) const { return static_cast<double>(block.count * element_bytes_); }

    [[nodiscard]] const Link& link_between(const VirtualRank& state, Rank peer) {
        return links_[has_nodes_ && state.node == at(peer).node ? 1 : 0];
    }

    void begin(const CostModel& costs, Count element_bytes, std::span<const double> ready) {
        if (!ready.empty() && ready.size() != ranks_.size()) {
            throw Error(std::to_string(ready.size()) + " times at which ranks come; expected one for each of " +
                        std::to_string(ranks_.size()) + " ranks");
        }
        const LinkCosts inside = costs.inside.value_or(LinkCosts{costs.alpha, costs.beta, costs.overhead});
        const bool pooled = has_nodes_ || costs.lanes > 1 || costs.fluid;
        links_[0] = {costs.alpha,      costs.beta, costs.overhead, static_cast<double>(costs.eager),
                     costs.rendezvous, pooled};
        links_[1] = {inside.alpha, inside.beta, inside.overhead, static_cast<double>(no_eager_limit), 0, false};
        gamma_ = costs.gamma;
        lanes_ = static_cast<std::size_t>(costs.lanes);
        lane_wires_.assign(pooled && !costs.fluid ? static_cast<std::size_t>(nodes_) * lanes_ : 0, {});
        const auto shared = costs.fluid ? 2 * static_cast<std::size_t>(nodes_) : 0;
        shared_wires_.assign(shared, {SharedWire(costs.lanes), 0});
        left_.assign(costs.fluid ? actions() : 0, not_posted);
        buffered_ = costs.eager < no_eager_limit;
        element_bytes_ = element_bytes;
        now_ = 0;
        order_ = 0;
        staggered_ = !ready.empty();
        ready_.assign(actions(), not_posted);
        for (VirtualRank& state : ranks_) {
            state.wire = {};
            state.processor_free = ready.empty() ? 0 : ready[static_cast<std::size_t>(rank_of(state))];
            if (!(state.processor_free >= 0 && state.processor_free < under_way)) {
                throw Error("rank " + std::to_string(rank_of(state)) + " comes at " +
                            std::to_string(state.processor_free) + "; expected a time from 0 on");
            }
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

    double& free_lane(VirtualRank& state, double Wire::* direction) {
        Wire* first = lane_wires_.data() + static_cast<std::size_t>(state.node) * lanes_;
        return std::min_element(first, first + lanes_, [&](const Wire& a, const Wire& b) {
                   return a.*direction < b.*direction;
               })->*direction;
    }

    /// A send that shall take a wire then, and not earlier.
    void leave_at(double time, std::uint32_t index) {
        ready_[index] = under_way;
        schedule(time, index | leaves);
    }

    /// A send that is ready takes a wire, as soon as one is idle. From then on `ready_` is when its last byte would
    /// arrive at an idle receiver; where it goes through lanes, when it has come in there.
    template <class Runner>
    void leave(VirtualRank& state, const Link& link, double length, std::uint32_t index, Runner& runner) {
        if (link.pooled && !shared_wires_.empty()) return leave_as_fluid(state, link, length, index, runner);
        double& wire = link.pooled ? free_lane(state, &Wire::egress_free) : state.wire.egress_free;
        const double start = std::max(wire, ready_[index]);
        wire = start + link.beta * length;
        runner.left(index, start);
        if (link.pooled) {
            ready_[index] = under_way;
            schedule(start + link.alpha + runner.delay(), index | comes_in);
        } else {
            ready_[index] = wire + link.alpha + runner.delay();
        }
        if (!runner.asks(index, length > link.eager)) schedule(wire + runner.delay(), index);
    }

    /// What happens that completes no action.
    template <class Runner>
    [[gnu::noinline]] void go_on(std::uint32_t event, Runner& runner) {
        const std::uint32_t index = event & index_bits;
        if ((event & comes) != 0) return start_actions(at(static_cast<Rank>(index)), runner);
        if ((event & on_wire) != 0) return go_on_wire(index, runner);
        VirtualRank& state = owner(index);
        const Action& sent = action(index);
        const Link& link = link_between(state, sent.peer);
        const double length = bytes(sent.block);
        if ((event & leaves) != 0) {
            ready_[index] = now_;
            leave(state, link, length, index, runner);
            if (link.pooled) return;
        } else if (!shared_wires_.empty()) {
            if (ready_[index] != at_receiver) {
                enter(ingress_of(at(sent.peer)), index, link.beta * length);
                return;
            }
            ready_[index] = now_;
        } else {  // through the lanes of its receiver's node, whether it is expected or not
            double& lane = free_lane(at(sent.peer), &Wire::ingress_free);
            ready_[index] = lane = std::max(lane, now_) + link.beta * length;
        }
        const std::uint32_t received = runner.counterpart(index);
        if (received != Action::none) deliver(link, length, at(sent.peer), index, received, runner);
    }

    /// As `leave`, into the shared wire of its node.
    template <class Runner>
    [[gnu::noinline]] void leave_as_fluid(const VirtualRank& state, const Link& link, double length,
                                          std::uint32_t index, Runner& runner) {
        ready_[index] = under_way;
        if (is_buffered(length, link)) schedule(now_ + runner.delay(), index);
        if (enter(egress_of(state), index, link.beta * length)) first_byte_leaves(index, runner);
    }

    [[nodiscard]] bool is_buffered(double length, const Link& link) const { return buffered_ && length <= link.eager; }

    template <class Runner>
    void first_byte_leaves(std::uint32_t index, Runner& runner) {
        runner.left(index, now_);
        schedule(now_ + links_[0].alpha + runner.delay(), index | comes_in);
    }

    /// Of shared wires: out of a node, and into it.
    [[nodiscard]] static std::uint32_t egress_of(const VirtualRank& state) {
        return 2 * static_cast<std::uint32_t>(state.node);
    }
    [[nodiscard]] static std::uint32_t ingress_of(const VirtualRank& state) { return egress_of(state) + 1; }

    bool enter(std::uint32_t number, std::uint32_t index, double seconds) {
        constexpr int bits_of_rank = 32;
        const auto from = static_cast<std::uint32_t>(rank_of(index)),
                   to = static_cast<std::uint32_t>(action(index).peer);
        const std::uint64_t flow = std::uint64_t{from} << bits_of_rank | to;
        const bool starts = shared_wires_[number].wire.enter(now_, flow, seconds, index);
        if (starts) schedule_wire(number);
        return starts;
    }

    /// When its next message will be through, as things are. What was scheduled before counts no more.
    void schedule_wire(std::uint32_t number) {
        WireInUse& shared = shared_wires_[number];
        shared.event = order_;
        const double due = shared.wire.due();
        if (due != SharedWire::never) schedule(std::max(due, now_), number | on_wire);
    }

    /// A message is through: out of its sender's node, or into its receiver's. It arrives when it has come in, and its
    /// last byte has made the way.
    template <class Runner>
    void go_on_wire(std::uint32_t number, Runner& runner) {
        WireInUse& shared = shared_wires_[number];
        if (shared.event != event_order_) return;
        const SharedWire::Through through = shared.wire.pop(now_);
        schedule_wire(number);
        const std::uint32_t index = through.message;
        const Link& link = links_[0];
        const bool leaves_node = number % 2 == 0;
        if (leaves_node) {
            const double length = bytes(action(index).block);
            if (!runner.asks(index, length > link.eager) && !is_buffered(length, link)) {
                schedule(now_ + runner.delay(), index);
            }
            left_[index] = now_;
            if (through.next != SharedWire::none) first_byte_leaves(through.next, runner);
        } else {
            ready_[index] = at_receiver;
        }
        if (left_[index] == not_posted || ready_[index] != at_receiver) return;
        schedule(std::max(left_[index] + link.alpha + runner.delay(), now_), index | comes_in);
    }

    /// Both ends of a message are there.
    template <class Runner>
    void meet(const Link& link, double length, VirtualRank& receiver, std::uint32_t sent, std::uint32_t received,
              Runner& runner) {
        if (runner.asks(sent, length > link.eager)) {  // half of the wait before the receiver answers, half behind
            const double asked = ready_[sent] + link.rendezvous / 2;
            leave_at(std::max(asked, ready_[received]) + link.rendezvous / 2, sent);
        } else if (ready_[sent] != under_way && ready_[sent] != at_receiver) {
            deliver(link, length, receiver, sent, received, runner);
        }
    }

    template <class Runner>
    void deliver(const Link& link, double length, VirtualRank& receiver, std::uint32_t sent, std::uint32_t received,
                 Runner& runner) {
        double arrived = std::max(ready_[sent], ready_[received]);
        if (!link.pooled && !(staggered_ && came_before(receiver.wire, ready_[sent]))) {
            const double alone = ready_[sent] - link.beta * length;
            if (alone >= receiver.wire.ingress_free) receiver.wire.ingress_from = alone;
            arrived = std::max(arrived, receiver.wire.ingress_free + link.beta * length);
            receiver.wire.ingress_free = arrived;
        }
        runner.arrived(sent, received, arrived);
        schedule(arrived + runner.delay(), received);
        if (runner.asks(sent, length > link.eager)) schedule(arrived + runner.delay(), sent);
    }

    /// A rank that comes late posts receives in another order than that in which their messages have come. Those that
    /// were in before the wire became busy do not wait for it.
    [[nodiscard]] static bool came_before(const Wire& wire, double time) { return time <= wire.ingress_from; }

    void schedule(double time, std::uint32_t event) {
        events_.push_back(Event{std::bit_cast<std::uint64_t>(time)} << 64 | Event{order_++} << 32 | event);
        std::push_heap(events_.begin(), events_.end(), std::greater<>());
    }

    /// What happens next, at what is now the time.
    std::uint32_t next_event() {
        const Event event = events_.front();
        std::pop_heap(events_.begin(), events_.end(), std::greater<>());
        events_.pop_back();
        now_ = std::bit_cast<double>(static_cast<std::uint64_t>(event >> 64));
        event_order_ = static_cast<std::uint32_t>(event >> 32);
        return static_cast<std::uint32_t>(event);
    }

    std::vector<VirtualRank> ranks_;
    std::vector<Rank> rank_of_;             // of each action
    std::vector<Event> events_;             // a heap
    std::vector<double> ready_;             // of each transfer: when it was posted, and see leave()
    std::vector<Wire> lane_wires_;          // node by node; empty if links have wires of their own
    std::vector<WireInUse> shared_wires_;   // node by node, out and in; empty if wires are not shared as fluids are
    std::vector<double> left_;              // with those: when the last byte of each send left
    const Placement* placement_ = nullptr;  // while ranks are added
    Rank nodes_ = 0;
    bool has_nodes_ = false;  // some of several ranks
    Link links_[2] = {};      // between nodes, inside a node
    double gamma_ = 0;
    std::size_t lanes_ = 1;
    Count element_bytes_ = 1;
    double now_ = 0;
    std::uint32_t order_ = 0;
    std::uint32_t event_order_ = 0;  // of what happens now
    bool staggered_ = false;         // ranks come at different times
    bool buffered_ = false;          // with shared wires: sends up to the eager limit complete at once
};

/// Plans of all ranks, matched by sender, receiver and position.
class Timing {
  public:
    explicit Timing(const Problem& problem, const FlightLimits& limits = {}) {
        time_.reserve(problem.facts.size, problem.facts.placement);
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            const auto call = problem.call(rank);
            time_.add(Plan::of(*call, problem.algorithm), limits);
        }
        std::map<std::pair<Rank, Rank>, std::deque<std::uint32_t>> sends;
        for (std::uint32_t index = 0; index < time_.actions(); ++index) {
            const Action& action = time_.action(index);
            if (action.kind == ActionKind::send) sends[{time_.rank_of(index), action.peer}].push_back(index);
        }
        counterpart_.resize(time_.actions());
        for (std::uint32_t index = 0; index < time_.actions(); ++index) {
            const Action& action = time_.action(index);
            if (action.kind != ActionKind::receive) continue;
            auto& from = sends.at({action.peer, time_.rank_of(index)});
            counterpart_[index] = from.front();
            counterpart_[from.front()] = index;
            from.pop_front();
        }
    }

    double time(const CostModel& costs, Count element_bytes, std::span<const double> ready = {}) {
        return time_.run(costs, element_bytes, *this, ready);
    }

    // For VirtualTime.
    void start(VirtualRank& state, const Action& action, std::uint32_t index) {
        switch (action.kind) {
            case ActionKind::receive: time_.post_receive(state, action, index, *this); break;
            case ActionKind::send: time_.post_send(state, action, index, *this); break;
            case ActionKind::combine: time_.work(state, time_.seconds_of_combine(action.block), 0, index); break;
            case ActionKind::copy: time_.work(state, 0, 0, index); break;
        }
    }
    void complete(const VirtualRank& /*state*/, const Action& /*action*/, std::uint32_t /*index*/) const {}
    [[nodiscard]] std::uint32_t post(const VirtualRank& /*state*/, const Action& /*action*/,
                                     std::uint32_t index) const {
        return counterpart(index);
    }
    [[nodiscard]] std::uint32_t counterpart(std::uint32_t index) const {
        return time_.is_posted(counterpart_[index]) ? counterpart_[index] : Action::none;
    }
    [[nodiscard]] static bool asks(std::uint32_t /*index*/, bool is_long) { return is_long; }
    void left(std::uint32_t /*index*/, double /*time*/) const {}
    void arrived(std::uint32_t /*sent*/, std::uint32_t /*received*/, double /*time*/) const {}
    [[nodiscard]] static double delay() { return 0; }

  private:
    VirtualTime time_;
    std::vector<std::uint32_t> counterpart_;  // the receive of a send, and the reverse
};

}  // namespace rondo::virtual_machine::plain
