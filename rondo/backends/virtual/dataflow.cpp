// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/dataflow.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>

#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

/// Who is using a run of elements at this moment.
struct InUse {
    int readers = 0;
    int writers = 0;
};

struct Event {
    double time;
    std::uint64_t order;  // of equal times, the one scheduled first
    Rank rank;
    std::uint32_t action;  // of `rank`, completes
    friend bool operator>(const Event& a, const Event& b) {
        return std::pair(a.time, a.order) > std::pair(b.time, b.order);
    }
};

struct VirtualRank {
    Plan plan;
    Memory memory;
    Scoreboard scoreboard;
    std::array<RangeMap<InUse>, buffers> in_use;
    std::unordered_map<std::uint32_t, Data> arriving;  // of receives that have been matched
    double egress_free = 0, ingress_free = 0;          // when the wire is idle again
    double processor_free = 0;
};

struct Message {
    std::uint32_t action;
    double ready;  // a send: when its last byte would arrive at an idle receiver; a receive: when it was posted
    Data data;
    bool buffered = false;
    double left = 0;  // a send: when its first byte left
};

struct Channel {
    std::deque<Message> sends, receives;
};

class Dataflow {
  public:
    Dataflow(const Problem& problem, const DataflowOptions& options)
        : problem_(problem), options_(options), random_(options.seed) {
        outcome_.ranks.resize(static_cast<std::size_t>(problem.facts.size));
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            const auto call = problem.call(rank);
            Plan plan = Plan::of(*call, problem.algorithm);
            if (options.alter) plan = options.alter(rank, std::move(plan));
            ranks_.push_back(std::make_unique<VirtualRank>(
                VirtualRank{std::move(plan), problem.memory(rank), Scoreboard(options.limits), {}, {}, 0, 0, 0}));
        }
    }

    Outcome run() {
        for (Rank rank = 0; rank < problem_.facts.size; ++rank) {
            at(rank).scoreboard.start(at(rank).plan, static_cast<std::uint64_t>(problem_.facts.element_bytes));
            start_actions(rank);
        }
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.time;
            complete(event.rank, event.action);
            start_actions(event.rank);
        }
        std::vector<Memory> memories;
        for (Rank rank = 0; rank < problem_.facts.size; ++rank) {
            VirtualRank& state = at(rank);
            if (!state.scoreboard.done()) {
                throw Error(where(rank, state.plan.actions()[state.scoreboard.first_incomplete()]) +
                            "deadlock: never completes");
            }
            memories.push_back(std::move(state.memory));
        }
        for (const auto& [ends, channel] : channels_) {
            if (channel.sends.empty()) continue;
            const auto from = static_cast<Rank>(ends >> 32);
            throw Error(where(from, at(from).plan.actions()[channel.sends.front().action]) + "nobody receives this");
        }
        check_result(problem_, memories);
        return std::move(outcome_);
    }

  private:
    VirtualRank& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
    RankCounts& counts(Rank rank) { return outcome_.ranks[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool random() const { return options_.seed != 0; }
    double random_delay() { return random() ? std::exponential_distribution<double>(1.0)(random_) : 0.0; }
    [[nodiscard]] double bytes(const Block& block) const {
        return static_cast<double>(block.count * problem_.facts.element_bytes);
    }

    void start_actions(Rank rank) {
        for (std::uint32_t i; (i = at(rank).scoreboard.next()) != Action::none;) {
            const Action& action = at(rank).plan.actions()[i];
            try {
                start(rank, i, action);
            } catch (const Error& error) {
                throw Error(where(rank, action) + error.what());
            }
        }
    }

    void start(Rank rank, std::uint32_t i, const Action& action) {
        VirtualRank& state = at(rank);
        state.processor_free = std::max(state.processor_free, now_);
        switch (action.kind) {
            case ActionKind::receive:
                state.processor_free += options_.costs.overhead;
                begin_write(state, action.block);
                post(action.peer, rank, false, {i, state.processor_free, {}});
                break;
            case ActionKind::send: start_send(rank, i, action); break;
            case ActionKind::combine:
            case ActionKind::copy:
                begin_read(state, action.block);
                if (action.kind == ActionKind::combine) {
                    if (!(action.right == action.block)) begin_read(state, action.right);
                    state.processor_free += options_.costs.gamma * bytes(action.into);
                }
                schedule(state.processor_free + random_delay(), rank, i);
                break;
        }
    }

    void start_send(Rank rank, std::uint32_t i, const Action& action) {
        VirtualRank& state = at(rank);
        state.processor_free += options_.costs.overhead;
        begin_read(state, action.block);
        ++counts(rank).sent;
        counts(rank).volume += action.block.count;
        Message message{i, state.processor_free, state.memory.read(action.block)};
        message.buffered = !options_.synchronous && (!random() || std::bernoulli_distribution()(random_));
        if (message.buffered) {
            leave(rank, message, action.block);
            schedule(state.egress_free + random_delay(), rank, i);
        }
        post(rank, action.peer, true, std::move(message));
    }

    /// Puts a message that is ready on the wire; then it is ready to arrive.
    void leave(Rank from, Message& message, const Block& block) {
        double& egress_free = at(from).egress_free;
        message.left = std::max(egress_free, message.ready);
        egress_free = message.left + options_.costs.beta * bytes(block);
        message.ready = egress_free + options_.costs.alpha + random_delay();
    }

    void post(Rank from, Rank to, bool sends, Message message) {
        Channel& channel = channels_[std::uint64_t(from) << 32 | std::uint64_t(to)];
        (sends ? channel.sends : channel.receives).push_back(std::move(message));
        if (channel.sends.empty() || channel.receives.empty()) return;
        match(from, channel.sends.front(), to, channel.receives.front());
        channel.sends.pop_front();
        channel.receives.pop_front();
    }

    void match(Rank from, Message& sent, Rank to, const Message& received) {
        const Block source = at(from).plan.actions()[sent.action].block;
        const Block target = at(to).plan.actions()[received.action].block;
        if (source.count != target.count) {
            throw Error("rank " + std::to_string(from) + " sends " + to_string(source) + ", rank " +
                        std::to_string(to) + " receives " + to_string(target) + ": the counts differ");
        }
        if (!sent.buffered) {  // leaves only now that there is somewhere to put it
            sent.ready = std::max(sent.ready, received.ready);
            leave(from, sent, source);
        }
        VirtualRank& receiver = at(to);
        const double on_wire = options_.costs.beta * bytes(source);
        receiver.ingress_free = std::max(std::max(sent.ready, received.ready), receiver.ingress_free + on_wire);
        if (options_.observer != nullptr) {
            options_.observer->message({.from = from,
                                        .to = to,
                                        .source = source,
                                        .target = target,
                                        .step_from = at(from).plan.actions()[sent.action].step,
                                        .step_to = at(to).plan.actions()[received.action].step,
                                        .start = sent.left,
                                        .end = receiver.ingress_free,
                                        .data = sent.data});
        }
        receiver.arriving[received.action] = std::move(sent.data);
        ++counts(to).received;
        schedule(receiver.ingress_free + random_delay(), to, received.action);
        if (!sent.buffered) schedule(receiver.ingress_free + random_delay(), from, sent.action);
    }

    void complete(Rank rank, std::uint32_t i) {
        VirtualRank& state = at(rank);
        const Action& action = state.plan.actions()[i];
        try {
            finish(rank, i, action);
        } catch (const Error& error) {
            throw Error(where(rank, action) + error.what());
        }
        counts(rank).time = now_;
        outcome_.time = std::max(outcome_.time, now_);
        state.scoreboard.complete(i);
    }

    void finish(Rank rank, std::uint32_t i, const Action& action) {
        VirtualRank& state = at(rank);
        switch (action.kind) {
            case ActionKind::receive:
                end_write(state, action.block);
                state.memory.write(action.block, state.arriving.extract(i).mapped());
                break;
            case ActionKind::send: end_read(state, action.block); break;
            case ActionKind::combine:
                end_read(state, action.block);
                if (!(action.right == action.block)) end_read(state, action.right);
                begin_write(state, action.into);  // at an instant: a clash with anything under way is an error
                end_write(state, action.into);
                state.memory.write(action.into,
                                   combined(state.memory.read(action.block), state.memory.read(action.right),
                                            problem_.facts.op.commutative));
                ++counts(rank).operations;
                counts(rank).combined += action.into.count;
                observe(rank, action, now_ - options_.costs.gamma * bytes(action.into));
                break;
            case ActionKind::copy:
                end_read(state, action.block);
                begin_write(state, action.into);
                end_write(state, action.into);
                state.memory.write(action.into, state.memory.read(action.block));
                observe(rank, action, now_);
                break;
        }
    }

    void observe(Rank rank, const Action& action, double start) {
        if (options_.observer == nullptr) return;
        options_.observer->local({.rank = rank,
                                  .step = action.step,
                                  .kind = action.kind,
                                  .left = action.block,
                                  .right = action.right,
                                  .into = action.into,
                                  .start = start,
                                  .end = now_,
                                  .data = at(rank).memory.read(action.into)});
    }

    template <class Change>
    static void use(VirtualRank& state, const Block& block, Change&& change) {
        state.in_use[static_cast<std::size_t>(block.buffer)].visit(block,
                                                                   [&](Count, Count, InUse& run) { change(run); });
    }
    static void begin_read(VirtualRank& state, const Block& block) {
        use(state, block, [&](InUse& run) {
            if (run.writers > 0) throw Error("reads " + to_string(block) + " while it is being received");
            ++run.readers;
        });
    }
    static void begin_write(VirtualRank& state, const Block& block) {
        use(state, block, [&](InUse& run) {
            if (run.writers > 0) throw Error("overwrites " + to_string(block) + " while it is being received");
            if (run.readers > 0) throw Error("overwrites " + to_string(block) + " while it is being sent or read");
            ++run.writers;
        });
    }
    static void end_read(VirtualRank& state, const Block& block) {
        use(state, block, [](InUse& run) { --run.readers; });
    }
    static void end_write(VirtualRank& state, const Block& block) {
        use(state, block, [](InUse& run) { --run.writers; });
    }

    void schedule(double time, Rank rank, std::uint32_t action) { events_.push({time, order_++, rank, action}); }

    const Problem& problem_;
    const DataflowOptions& options_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<VirtualRank>> ranks_;
    std::unordered_map<std::uint64_t, Channel> channels_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t order_ = 0;
    double now_ = 0;
    Outcome outcome_;
};

}  // namespace

Outcome run_dataflow(const Problem& problem, const DataflowOptions& options) {
    return Dataflow(problem, options).run();
}

}  // namespace rondo::virtual_machine
