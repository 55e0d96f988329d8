// SPDX-License-Identifier: BSD-3-Clause
// The machine on which plans run in virtual time: when every rank's processor and wires and every node's lanes are
// free, what completes next, and what may start then. It knows no data and matches no messages: whoever runs plans on
// it does (dataflow.hpp with symbols, to prove; timing.hpp with nothing, to be quick). Header only, so that each way to
// look at it is compiled into its own loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/event_queue.hpp"
#include "rondo/backends/virtual/problem.hpp"
#include "rondo/backends/virtual/rank_table.hpp"
#include "rondo/backends/virtual/routes.hpp"
#include "rondo/backends/virtual/shared_wires.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {

/// Actions wait for one another.
class Deadlock : public Error {
  public:
    using Error::Error;
};

/// A runner of plans, which run() tells what happens, has:
///     start(site)         an action starts: it is to call one of post_receive, post_send and work
///     complete(site)
///     post(site)          its transfer is there: the counterpart's number on the peer, if that is there too, else
///                         Action::none
///     counterpart(site)   the same, later
///     asks(site, is_long) does a send wait until its receiver has answered?
///     left(site, time)    the first byte of a send
///     arrived(send, receive, time)    the last byte
///     delay()             added to what takes time
///     where(site)         for errors, with a colon behind it
class VirtualTime : public RankTable {
  public:
    /// Runs all plans from the start. Returns when the last action has completed; throws Deadlock.
    /// `ready`: when each rank comes to the call, which does nothing before, not even receive; empty: all at 0.
    template <class Runner>
    double run(const CostModel& costs, Count element_bytes, Runner& runner, std::span<const double> ready = {}) {
        begin(costs, element_bytes, ready);
        for (Rank rank = 0; rank < size(); ++rank) {
            const double time = at(rank).processor_free;
            if (time > 0) schedule(time, static_cast<std::uint32_t>(rank), comes);
            else start_actions(rank, runner);
        }
        while (!events_.empty()) {
            const Event event = events_.pop();
            now_ = event.time();
            if (event.what > own_bits) [[unlikely]] {
                go_on(event, runner);
                continue;
            }
            const Site site{static_cast<Rank>(event.who), event.what};
            runner.complete(site);
            board(site.rank).complete(site.own);
            start_actions(site.rank, runner);
        }
        for (Rank rank = 0; rank < size(); ++rank) {
            if (at(rank).incomplete == 0) continue;
            throw Deadlock(runner.where(Site{rank, board(rank).first_incomplete()}) + "deadlock: never completes");
        }
        return now_;
    }

    // What a runner starts now. It completes later, transfers in their time.

    void work(const Site& site, double seconds, double delay) {
        double& processor_free = at(site.rank).processor_free;
        processor_free += seconds;
        schedule(processor_free + delay, site);
    }

    template <class Runner>
    void post_receive(const Site& site, Runner& runner) {
        const ShapedAction& own = action(site);
        const Link& link = link_of(own);
        ready_at(site) = at(site.rank).processor_free += link.overhead;
        const std::uint32_t sent = runner.post(site);
        if (sent != Action::none) meet(link, bytes(own), {peer(site), sent}, site, runner);
    }

    template <class Runner>
    void post_send(const Site& site, Runner& runner) {
        const ShapedAction& own = action(site);
        const Link& link = link_of(own);
        const double length = bytes(own);
        const double ready = ready_at(site) = at(site.rank).processor_free += link.overhead;
        if (!runner.asks(site, length > link.eager)) {
            if (link.pooled && ready > now_) leave_at(ready, site);
            else leave(link, length, site, runner);
        }
        const std::uint32_t received = runner.post(site);
        if (received != Action::none) meet(link, length, site, {peer(site), received}, runner);
    }

    /// Of a transfer, in this run.
    [[nodiscard]] bool is_posted(const Site& site) const { return progress(site).ready != not_posted; }
    /// When a receive that is posted was.
    [[nodiscard]] double posted_at(const Site& receive) const { return progress(receive).ready; }
    [[nodiscard]] double now() const { return now_; }
    /// That a combine takes.
    [[nodiscard]] double seconds_of(const ShapedAction& combine) const { return gamma_ * bytes(combine); }

  private:
    // What an event is, besides a number of an action, which completes if nothing else is said.
    static constexpr std::uint32_t leaves = 1U << 31;    // a send takes a wire
    static constexpr std::uint32_t comes_in = 1U << 30;  // the first byte of a send reaches the receiver's lanes
    static constexpr std::uint32_t on_wire = 1U << 29;   // a message is through a shared wire
    static constexpr std::uint32_t comes = 1U << 28;     // a rank comes to the call
    static constexpr std::uint32_t own_bits = comes - 1;

    // In place of times, for Progress::ready.
    static constexpr double not_posted = -1;
    static constexpr double at_receiver = -2;  // all but what is still on the way
    static constexpr double under_way = std::numeric_limits<double>::infinity();

    struct WireInUse {
        SharedWire wire;
        std::uint32_t changes = 0;  // of its due time: what was scheduled before the last one counts no more
    };

    /// The costs of a class of links.
    struct Link {
        double alpha, beta, overhead;
        double eager, rendezvous;
        bool pooled;  // through the lanes of nodes, in the order in which messages come there; else each rank's wire
    };

    [[nodiscard]] double bytes(const ShapedAction& own) const {
        return static_cast<double>(own.count * element_bytes_);
    }
    [[nodiscard]] const Link& link_of(const ShapedAction& own) const { return links_[has_nodes() && own.near ? 1 : 0]; }
    [[nodiscard]] double& ready_at(const Site& site) { return progress(site).ready; }
    [[nodiscard]] RankBoard board(Rank rank) { return RankTable::board(rank, element_bytes_); }

    void begin(const CostModel& costs, Count element_bytes, std::span<const double> ready) {
        if (!ready.empty() && ready.size() != static_cast<std::size_t>(size())) {
            throw Error(std::to_string(ready.size()) + " times at which ranks come; expected one for each of " +
                        std::to_string(size()) + " ranks");
        }
        begin_network(costs);
        element_bytes_ = element_bytes;
        now_ = 0;
        events_.clear();
        staggered_ = !ready.empty();
        start_plans(not_posted);
        for (Rank rank = 0; rank < size(); ++rank) {
            VirtualRank& state = at(rank);
            state.wire = {};
            state.processor_free = ready.empty() ? 0 : ready[static_cast<std::size_t>(rank)];
            if (!(state.processor_free >= 0 && state.processor_free < under_way)) {
                throw Error("rank " + std::to_string(rank) + " comes at " + std::to_string(state.processor_free) +
                            "; expected a time from 0 on");
            }
        }
    }

    void begin_network(const CostModel& costs) {
        const LinkCosts inside = costs.inside.value_or(LinkCosts{costs.alpha, costs.beta, costs.overhead});
        const bool pooled = !costs.own_wires && (has_nodes() || costs.lanes > 1 || costs.fluid);
        const bool fluid = pooled && costs.fluid;
        links_[0] = {costs.alpha,      costs.beta, costs.overhead, static_cast<double>(costs.eager),
                     costs.rendezvous, pooled};
        links_[1] = {inside.alpha, inside.beta, inside.overhead, static_cast<double>(no_eager_limit), 0, false};
        gamma_ = costs.gamma;
        lanes_ = static_cast<std::size_t>(costs.lanes);
        buffered_ = costs.eager < no_eager_limit;
        lane_wires_.assign(pooled && !fluid ? static_cast<std::size_t>(nodes()) * lanes_ : 0, {});
        shared_wires_.assign(fluid ? 2 * static_cast<std::size_t>(nodes()) : 0, {SharedWire(costs.lanes)});
        routes_.clear();
        if (costs.network != nullptr && !costs.own_wires) begin_routes(costs);
        legs_.assign(!fluid ? 0 : routes_.empty() ? 2 * flows() : routes_.legs(), {});
    }

    void begin_routes(const CostModel& costs) {
        if (!costs.fluid) throw Error("a network has a shape only for messages that share lanes as fluids do");
        if (costs.network->nodes() != nodes()) {
            throw Error("a network with " + std::to_string(costs.network->nodes()) + " nodes; expected " +
                        std::to_string(nodes()));
        }
        routes_.begin(*costs.network);
        for (Rank rank = 0; rank < size(); ++rank) {
            for (const Rank peer : peers_of(rank)) routes_.add(at(rank).node, at(peer).node);
        }
        for (const double capacity : routes_.end()) {
            shared_wires_.push_back({SharedWire(capacity * costs.lanes)});
        }
    }

    template <class Runner>
    void start_actions(Rank rank, Runner& runner) {
        RankBoard rank_board = board(rank);
        for (std::uint32_t own; (own = rank_board.next()) != Action::none;) {
            double& processor_free = at(rank).processor_free;
            processor_free = std::max(processor_free, now_);
            runner.start(Site{rank, own});
        }
    }

    double& free_lane(Rank node, double Wire::* direction) {
        Wire* first = lane_wires_.data() + static_cast<std::size_t>(node) * lanes_;
        return std::min_element(first, first + lanes_, [&](const Wire& a, const Wire& b) {
                   return a.*direction < b.*direction;
               })->*direction;
    }

    /// A send that shall take a wire then, and not earlier.
    void leave_at(double time, const Site& site) {
        ready_at(site) = under_way;
        schedule(time, site, leaves);
    }

    /// A send that is ready takes a wire, as soon as one is idle. From then on it is ready when its last byte would
    /// arrive at an idle receiver; where it goes through lanes, when it has come in there.
    template <class Runner>
    void leave(const Link& link, double length, const Site& site, Runner& runner) {
        if (link.pooled && !shared_wires_.empty()) return leave_as_fluid(link, length, site, runner);
        VirtualRank& state = at(site.rank);
        double& wire = link.pooled ? free_lane(state.node, &Wire::egress_free) : state.wire.egress_free;
        double& ready = ready_at(site);
        const double start = std::max(wire, ready);
        wire = start + link.beta * length;
        runner.left(site, start);
        if (link.pooled) {
            ready = under_way;
            schedule(start + link.alpha + runner.delay(), site, comes_in);
        } else {
            ready = wire + link.alpha + runner.delay();
        }
        if (!runner.asks(site, length > link.eager)) schedule(wire + runner.delay(), site);
    }

    /// What happens that completes no action.
    template <class Runner>
    [[gnu::noinline]] void go_on(const Event& event, Runner& runner) {
        const std::uint32_t own = event.what & own_bits;
        if ((event.what & comes) != 0) return start_actions(static_cast<Rank>(event.who), runner);
        if ((event.what & on_wire) != 0) return go_on_wire(event.who, own, runner);
        const Site site{static_cast<Rank>(event.who), own};
        const ShapedAction& sent = action(site);
        const Link& link = link_of(sent);
        const double length = bytes(sent);
        double& ready = ready_at(site);
        if ((event.what & leaves) != 0) {
            ready = now_;
            leave(link, length, site, runner);
            if (link.pooled) return;
        } else if (!shared_wires_.empty()) {
            if (ready != at_receiver) return go_through(flow_of(site), 1, site);
            ready = now_;
        } else {  // through the lanes of its receiver's node, whether it is expected or not
            double& lane = free_lane(at(peer(site)).node, &Wire::ingress_free);
            ready = lane = std::max(lane, now_) + link.beta * length;
        }
        const std::uint32_t received = runner.counterpart(site);
        if (received != Action::none) deliver(link, length, site, {peer(site), received}, runner);
    }

    /// As `leave`, into the shared wire of its node.
    template <class Runner>
    void leave_as_fluid(const Link& link, double length, const Site& site, Runner& runner) {
        ready_at(site) = under_way;
        const std::uint32_t flow = flow_of(site);
        progress(site).legs = legs_of(flow);
        if (is_buffered(length, link)) schedule(now_ + runner.delay(), site);
        if (enter(flow, 0, site)) first_byte_leaves(flow, site, runner);
    }

    [[nodiscard]] bool is_buffered(double length, const Link& link) const { return buffered_ && length <= link.eager; }

    template <class Runner>
    void first_byte_leaves(std::uint32_t flow, const Site& site, Runner& runner) {
        runner.left(site, now_);
        schedule(now_ + latency_of(flow) + runner.delay(), site, comes_in);
    }

    // The ways of messages through shared wires: out of a node, through links of the network if that has a shape, and
    // into a node.

    [[nodiscard]] std::uint32_t first_leg(std::uint32_t flow) const {
        return routes_.empty() ? 2 * flow : routes_.first_leg(flow);
    }
    [[nodiscard]] std::uint32_t legs_of(std::uint32_t flow) const {
        return routes_.empty() ? 2 : routes_.first_leg(flow + 1) - routes_.first_leg(flow);
    }
    [[nodiscard]] std::uint32_t wire_of(std::uint32_t flow, std::uint32_t leg, Rank sender) const {
        if (!routes_.empty()) return routes_.wire(routes_.first_leg(flow) + leg);
        return leg == 0 ? Routes::egress(at(sender).node) : Routes::ingress(at(peer_of_flow(flow)).node);
    }
    /// All of it lies behind the first wire.
    [[nodiscard]] double latency_of(std::uint32_t flow) const {
        return routes_.empty() ? links_[0].alpha : links_[0].alpha + routes_.extra(flow);
    }

    /// The message that waits behind one, by their numbers. It is the same in all wires of a flow.
    [[nodiscard]] auto next_in_flow(Rank sender) {
        return [first = progress_of(sender)](std::uint32_t own) -> std::uint32_t& { return first[own].behind; };
    }

    /// Returns true if the message starts now, in one of its wires. Else it waits for others of its flow.
    bool enter(std::uint32_t flow, std::uint32_t leg, const Site& site) {
        const bool starts = legs_[first_leg(flow) + leg].enter(site.own, next_in_flow(site.rank));
        if (starts) {
            const std::uint32_t number = wire_of(flow, leg, site.rank);
            start_on(shared_wires_[number].wire, leg, site);
            schedule_wire(number);
        }
        return starts;
    }

    void start_on(SharedWire& wire, std::uint32_t leg, const Site& site) {
        wire.start(now_, links_[0].beta * bytes(action(site)), {static_cast<std::uint32_t>(site.rank), site.own, leg});
    }

    /// The first byte of a message comes to this one of its wires, and to those behind it, up to one in which it waits
    /// for others of its flow.
    void go_through(std::uint32_t flow, std::uint32_t leg, const Site& site) {
        const std::uint32_t legs = legs_of(flow);
        while (leg < legs && enter(flow, leg, site)) ++leg;
    }

    /// When its next message will be through, as things are. What was scheduled before counts no more.
    void schedule_wire(std::uint32_t number) {
        WireInUse& shared = shared_wires_[number];
        shared.changes = (shared.changes + 1) & own_bits;
        const double due = shared.wire.due();
        if (due != SharedWire::never) schedule(std::max(due, now_), number, shared.changes | on_wire);
    }

    /// A message is through one of its wires. It arrives when it is through all, and its last byte has made the way.
    template <class Runner>
    void go_on_wire(std::uint32_t number, std::uint32_t change, Runner& runner) {
        WireInUse& shared = shared_wires_[number];
        if (shared.changes != change) return;
        const SharedWire::Message through = shared.wire.pop(now_);
        const Site site{static_cast<Rank>(through.sender), through.number};
        const Link& link = links_[0];
        const std::uint32_t flow = flow_of(site);
        const std::uint32_t next = legs_[first_leg(flow) + through.leg].leave(site.own, next_in_flow(site.rank));
        const Site follower{site.rank, next};
        if (next != Flow::none) start_on(shared.wire, through.leg, follower);
        schedule_wire(number);
        Progress& message = progress(site);
        if (through.leg == 0) {
            const double length = bytes(action(site));
            if (!runner.asks(site, length > link.eager) && !is_buffered(length, link)) {
                schedule(now_ + runner.delay(), site);
            }
            message.left = now_;
            if (next != Flow::none) first_byte_leaves(flow, follower, runner);
        } else if (next != Flow::none) {
            go_through(flow, through.leg + 1, follower);
        }
        if (--message.legs > 0) return;
        message.ready = at_receiver;
        schedule(std::max(message.left + latency_of(flow) + runner.delay(), now_), site, comes_in);
    }

    /// Both ends of a message are there.
    template <class Runner>
    void meet(const Link& link, double length, const Site& sent, const Site& received, Runner& runner) {
        const double sent_ready = ready_at(sent);
        if (runner.asks(sent, length > link.eager)) {  // half of the wait before the receiver answers, half behind
            const double extra = routes_.empty() ? 0 : routes_.extra(flow_of(sent));
            const double half = link.rendezvous / 2 + extra;
            leave_at(std::max(sent_ready + half, ready_at(received)) + half, sent);
        } else if (sent_ready != under_way && sent_ready != at_receiver) {
            deliver(link, length, sent, received, runner);
        }
    }

    template <class Runner>
    void deliver(const Link& link, double length, const Site& sent, const Site& received, Runner& runner) {
        const double sent_ready = ready_at(sent);
        double arrived = std::max(sent_ready, ready_at(received));
        Wire& wire = at(received.rank).wire;
        if (!link.pooled && !(staggered_ && came_before(wire, sent_ready))) {
            const double alone = sent_ready - link.beta * length;
            if (alone >= wire.ingress_free) wire.ingress_from = alone;
            arrived = std::max(arrived, wire.ingress_free + link.beta * length);
            wire.ingress_free = arrived;
        }
        runner.arrived(sent, received, arrived);
        schedule(arrived + runner.delay(), received);
        if (runner.asks(sent, length > link.eager)) schedule(arrived + runner.delay(), sent);
    }

    /// A rank that comes late posts receives in another order than that in which their messages have come. Those that
    /// were in before the wire became busy do not wait for it.
    [[nodiscard]] static bool came_before(const Wire& wire, double time) { return time <= wire.ingress_from; }

    void schedule(double time, const Site& site, std::uint32_t kind = 0) {
        schedule(time, static_cast<std::uint32_t>(site.rank), site.own | kind);
    }
    void schedule(double time, std::uint32_t who, std::uint32_t what) { events_.push(time, who, what); }

    EventQueue events_;
    std::vector<Wire> lane_wires_;         // node by node; empty if links have wires of their own
    std::vector<WireInUse> shared_wires_;  // as Routes numbers them; empty if wires are not shared as fluids are
    Routes routes_;                        // of flows, from each rank to each of its peers; empty if there is no shape
    std::vector<Flow> legs_;               // of each flow, in each of its wires
    Link links_[2] = {};                   // between nodes, inside a node
    double gamma_ = 0;
    std::size_t lanes_ = 1;
    Count element_bytes_ = 1;
    double now_ = 0;
    bool staggered_ = false;  // ranks come at different times
    bool buffered_ = false;   // with shared wires: sends up to the eager limit complete at once
};

}  // namespace rondo::virtual_machine
