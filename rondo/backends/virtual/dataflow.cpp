// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/dataflow.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <unordered_map>
#include <utility>

#include "rondo/backends/virtual/trace.hpp"
#include "rondo/backends/virtual/virtual_time.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

/// Who is using a run of elements at this moment.
struct InUse {
    int readers = 0;
    int writers = 0;
};

/// What a rank's buffers hold, and who uses them.
struct Contents {
    Memory memory;
    std::array<RangeMap<InUse>, buffers> in_use;
};

/// What a transfer is about, besides its times.
struct Transit {
    Data data;  // of a send until it has arrived, then of its receive
    bool buffered = false;
    double left = 0;  // a send: when its first byte left
};

/// Posted, and not met: of one kind only.
struct Channel {
    std::deque<std::uint32_t> sends, receives;  // each by its number on its rank
};

class Dataflow {
  public:
    Dataflow(const Problem& problem, const DataflowOptions& options)
        : problem_(problem), options_(options), random_(options.seed) {
        outcome_.ranks.resize(static_cast<std::size_t>(problem.facts.size));
        contents_.reserve(outcome_.ranks.size());
        plans_.reserve(outcome_.ranks.size());
        const NodesOf nodes(problem.facts);
        time_.reserve(problem.facts.size, nodes.size(), nodes.are_shared(), options.limits);
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            const auto call = problem.call(rank);
            Plan plan = Plan::of(*call, problem.algorithm);
            if (options.alter) plan = options.alter(rank, std::move(plan));
            const PlanShape& shape = time_.shapes().of(plan, problem.facts.size, nodes.beside(rank));
            time_.add(shape, time_.shapes().peers(), nodes.of(rank));
            plans_.push_back(std::move(plan));
            contents_.push_back({problem.memory(rank), {}});
        }
        transits_.resize(time_.actions());
    }

    Outcome run() {
        outcome_.time = time_.run(options_.costs, problem_.facts.element_bytes, *this, options_.ready);
        for (const auto& [ends, channel] : channels_) {
            if (channel.sends.empty()) continue;
            const auto from = static_cast<Rank>(ends >> 32);
            throw Error(where({from, channel.sends.front()}) + "nobody receives this");
        }
        std::vector<Memory> memories;
        memories.reserve(contents_.size());
        for (Contents& contents : contents_) memories.push_back(std::move(contents.memory));
        check_result(problem_, memories);
        return std::move(outcome_);
    }

    // For VirtualTime.

    void start(const Site& site) {
        try {
            start_on(site, action(site));
        } catch (const Error& error) {
            throw Error(where(site) + error.what());
        }
    }

    void complete(const Site& site) {
        try {
            finish(site, plans_[static_cast<std::size_t>(site.rank)], action(site));
        } catch (const Error& error) {
            throw Error(where(site) + error.what());
        }
        counts(site.rank).time = time_.now();
    }

    /// Matches in the order in which ranks post, whatever order their plans should have.
    std::uint32_t post(const Site& site) {
        const Rank rank = site.rank, peer = action(site).peer;
        const bool sends = action(site).kind == ActionKind::send;
        const auto [from, to] = sends ? std::pair(rank, peer) : std::pair(peer, rank);
        Channel& channel = channels_[std::uint64_t(from) << 32 | std::uint64_t(to)];
        (sends ? channel.sends : channel.receives).push_back(site.own);
        if (channel.sends.empty() || channel.receives.empty()) return Action::none;
        match({from, channel.sends.front()}, {to, channel.receives.front()});
        channel.sends.pop_front();
        channel.receives.pop_front();
        return counterpart(site);
    }
    [[nodiscard]] std::uint32_t counterpart(const Site& site) const { return time_.progress(site).counterpart; }
    [[nodiscard]] bool asks(const Site& site, bool is_long) const { return is_long || !transit(site).buffered; }
    void left(const Site& site, double time) { transit(site).left = time; }
    void arrived(const Site& sent, const Site& received, double time) {
        Transit& message = transit(sent);
        if (options_.observer != nullptr) {
            options_.observer->message({.from = sent.rank,
                                        .to = received.rank,
                                        .source = action(sent).block,
                                        .target = action(received).block,
                                        .step_from = action(sent).step,
                                        .step_to = action(received).step,
                                        .start = message.left,
                                        .end = time,
                                        .data = message.data});
        }
        transit(received).data = std::exchange(message.data, {});
        ++counts(received.rank).received;
    }
    [[nodiscard]] double delay() { return random() ? std::exponential_distribution<double>(1.0)(random_) : 0.0; }
    [[nodiscard]] std::string where(const Site& site) const {
        return virtual_machine::where(site.rank, plans_[static_cast<std::size_t>(site.rank)], action(site));
    }

  private:
    Contents& contents(Rank rank) { return contents_[static_cast<std::size_t>(rank)]; }
    RankCounts& counts(Rank rank) { return outcome_.ranks[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const Action& action(const Site& site) const {
        return plans_[static_cast<std::size_t>(site.rank)].actions()[site.own];
    }
    Transit& transit(const Site& site) { return transits_[time_.index_of(site)]; }
    [[nodiscard]] const Transit& transit(const Site& site) const { return transits_[time_.index_of(site)]; }
    [[nodiscard]] bool random() const { return options_.seed != 0; }

    void start_on(const Site& site, const Action& action) {
        const Rank rank = site.rank;
        const Plan& plan = plans_[static_cast<std::size_t>(rank)];
        switch (action.kind) {
            case ActionKind::receive:
                begin_write(rank, action.block);
                time_.post_receive(site, *this);
                break;
            case ActionKind::send: start_send(site, action); break;
            case ActionKind::combine: {
                begin_read(rank, action.block);
                const Block& right = plan.local_work(action).right;
                if (!(right == action.block)) begin_read(rank, right);
                time_.work(site, time_.seconds_of(time_.action(site)), delay());
                break;
            }
            case ActionKind::copy:
                begin_read(rank, plan.pieces(action).from(action.block).bounds());
                time_.work(site, 0, delay());
                break;
        }
    }

    void start_send(const Site& site, const Action& action) {
        begin_read(site.rank, action.block);
        ++counts(site.rank).sent;
        counts(site.rank).volume += action.block.count;
        Transit& message = transit(site);
        Memory& memory = contents(site.rank).memory;
        message.data = memory.read(action.block);
        leave(plans_[static_cast<std::size_t>(site.rank)].slots(), action.block, memory);
        message.buffered = !options_.synchronous && (!random() || std::bernoulli_distribution()(random_));
        time_.post_send(site, *this);
    }

    void match(const Site& sent, const Site& received) {
        const Block source = action(sent).block, target = action(received).block;
        if (source.count != target.count) {
            throw Error("rank " + std::to_string(sent.rank) + " sends " + to_string(source) + ", rank " +
                        std::to_string(received.rank) + " receives " + to_string(target) + ": the counts differ");
        }
        time_.progress(sent).counterpart = received.own;
        time_.progress(received).counterpart = sent.own;
    }

    void finish(const Site& site, const Plan& plan, const Action& action) {
        const Rank rank = site.rank;
        Memory& memory = contents(rank).memory;
        switch (action.kind) {
            case ActionKind::receive:
                end_write(rank, action.block);
                memory.write(action.block, std::exchange(transit(site).data, {}));
                break;
            case ActionKind::send: end_read(rank, action.block); break;
            case ActionKind::combine:
                finish_combine(rank, action, plan.local_work(action), time_.seconds_of(time_.action(site)));
                break;
            case ActionKind::copy: finish_copy(rank, action, plan.local_work(action), plan.pieces(action)); break;
        }
    }

    void finish_combine(Rank rank, const Action& action, const LocalWork& work, double seconds) {
        Memory& memory = contents(rank).memory;
        end_read(rank, action.block);
        if (!(work.right == action.block)) end_read(rank, work.right);
        begin_write(rank, work.into);  // at an instant: a clash with anything under way is an error
        end_write(rank, work.into);
        memory.write(work.into,
                     combined(memory.read(action.block), memory.read(work.right), problem_.facts.op.commutative));
        ++counts(rank).operations;
        counts(rank).combined += work.into.count;
        observe(rank, action, work, time_.now() - seconds);
    }

    void finish_copy(Rank rank, const Action& action, const LocalWork& work, const Pieces& pieces) {
        const BlockRow from = pieces.from(action.block), into = pieces.into(work.into);
        end_read(rank, from.bounds());
        begin_write(rank, into.bounds());
        end_write(rank, into.bounds());
        contents(rank).memory.copy(from, into);
        observe(rank, action, work, time_.now(), pieces);
    }

    void observe(Rank rank, const Action& action, const LocalWork& work, double start, const Pieces& pieces = {}) {
        if (options_.observer == nullptr) return;
        options_.observer->local({.rank = rank,
                                  .step = action.step,
                                  .kind = action.kind,
                                  .left = pieces.from(action.block).bounds(),
                                  .right = work.right,
                                  .into = pieces.into(work.into).bounds(),
                                  .start = start,
                                  .end = time_.now(),
                                  .data = contents(rank).memory.read(pieces.into(work.into))});
    }

    template <class Change>
    void use(Rank rank, const Block& block, Change&& change) {
        contents(rank).in_use[static_cast<std::size_t>(block.buffer)].visit(
            block, [&](Count, Count, InUse& run) { change(run); });
    }
    void begin_read(Rank rank, const Block& block) {
        use(rank, block, [&](InUse& run) {
            if (run.writers > 0) throw Error("reads " + to_string(block) + " while it is being received");
            ++run.readers;
        });
    }
    void begin_write(Rank rank, const Block& block) {
        use(rank, block, [&](InUse& run) {
            if (run.writers > 0) throw Error("overwrites " + to_string(block) + " while it is being received");
            if (run.readers > 0) throw Error("overwrites " + to_string(block) + " while it is being sent or read");
            ++run.writers;
        });
    }
    void end_read(Rank rank, const Block& block) {
        use(rank, block, [](InUse& run) { --run.readers; });
    }
    void end_write(Rank rank, const Block& block) {
        use(rank, block, [](InUse& run) { --run.writers; });
    }

    const Problem& problem_;
    const DataflowOptions& options_;
    std::mt19937_64 random_;
    VirtualTime time_;
    std::vector<Plan> plans_;         // by rank
    std::vector<Contents> contents_;  // by rank
    std::vector<Transit> transits_;   // by action
    std::unordered_map<std::uint64_t, Channel> channels_;
    Outcome outcome_;
};

}  // namespace

Outcome run_dataflow(const Problem& problem, const DataflowOptions& options) {
    return Dataflow(problem, options).run();
}

}  // namespace rondo::virtual_machine
