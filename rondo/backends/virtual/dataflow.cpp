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
    std::uint32_t counterpart = Action::none;  // once both are there
    Data data;                                 // of a send until then, then of the receive
    bool buffered = false;
    double left = 0;  // a send: when its first byte left
};

/// Posted, and not met: of one kind only.
struct Channel {
    std::deque<std::uint32_t> sends, receives;
};

class Dataflow {
  public:
    Dataflow(const Problem& problem, const DataflowOptions& options)
        : problem_(problem), options_(options), random_(options.seed) {
        outcome_.ranks.resize(static_cast<std::size_t>(problem.facts.size));
        contents_.reserve(outcome_.ranks.size());
        time_.reserve(problem.facts.size, problem.facts.placement);
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            const auto call = problem.call(rank);
            Plan plan = Plan::of(*call, problem.algorithm);
            if (options.alter) plan = options.alter(rank, std::move(plan));
            time_.add(std::move(plan), options.limits);
            contents_.push_back({problem.memory(rank), {}});
        }
        transits_.resize(time_.actions());
    }

    Outcome run() {
        outcome_.time = time_.run(options_.costs, problem_.facts.element_bytes, *this, options_.ready);
        for (const auto& [ends, channel] : channels_) {
            if (channel.sends.empty()) continue;
            const auto from = static_cast<Rank>(ends >> 32);
            const std::uint32_t lone = channel.sends.front();
            throw Error(where(from, time_.owner(lone).plan, time_.action(lone)) + "nobody receives this");
        }
        std::vector<Memory> memories;
        memories.reserve(contents_.size());
        for (Contents& contents : contents_) memories.push_back(std::move(contents.memory));
        check_result(problem_, memories);
        return std::move(outcome_);
    }

    // For VirtualTime.

    void start(VirtualRank& state, const Action& action, std::uint32_t index) {
        const Rank rank = time_.rank_of(index);
        try {
            start_on(rank, state, action, index);
        } catch (const Error& error) {
            throw Error(where(rank, state.plan, action) + error.what());
        }
    }

    void complete(const VirtualRank& state, const Action& action, std::uint32_t index) {
        const Rank rank = time_.rank_of(index);
        try {
            finish(rank, state.plan, action, index);
        } catch (const Error& error) {
            throw Error(where(rank, state.plan, action) + error.what());
        }
        counts(rank).time = time_.now();
    }

    /// Matches in the order in which ranks post, whatever order their plans should have.
    std::uint32_t post(const VirtualRank& state, const Action& action, std::uint32_t index) {
        const Rank rank = time_.rank_of(state);
        const bool sends = action.kind == ActionKind::send;
        const auto [from, to] = sends ? std::pair(rank, action.peer) : std::pair(action.peer, rank);
        Channel& channel = channels_[std::uint64_t(from) << 32 | std::uint64_t(to)];
        (sends ? channel.sends : channel.receives).push_back(index);
        if (channel.sends.empty() || channel.receives.empty()) return Action::none;
        match(from, channel.sends.front(), to, channel.receives.front());
        channel.sends.pop_front();
        channel.receives.pop_front();
        return counterpart(index);
    }
    [[nodiscard]] std::uint32_t counterpart(std::uint32_t index) const { return transits_[index].counterpart; }
    [[nodiscard]] bool asks(std::uint32_t index, bool is_long) const { return is_long || !transits_[index].buffered; }
    void left(std::uint32_t index, double time) { transits_[index].left = time; }
    void arrived(std::uint32_t sent, std::uint32_t received, double time) {
        Transit& message = transits_[sent];
        if (options_.observer != nullptr) {
            options_.observer->message({.from = time_.rank_of(sent),
                                        .to = time_.rank_of(received),
                                        .source = time_.action(sent).block,
                                        .target = time_.action(received).block,
                                        .step_from = time_.action(sent).step,
                                        .step_to = time_.action(received).step,
                                        .start = message.left,
                                        .end = time,
                                        .data = message.data});
        }
        transits_[received].data = std::exchange(message.data, {});
        ++counts(time_.rank_of(received)).received;
    }
    [[nodiscard]] double delay() { return random() ? std::exponential_distribution<double>(1.0)(random_) : 0.0; }

  private:
    Contents& contents(Rank rank) { return contents_[static_cast<std::size_t>(rank)]; }
    RankCounts& counts(Rank rank) { return outcome_.ranks[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool random() const { return options_.seed != 0; }

    void start_on(Rank rank, VirtualRank& state, const Action& action, std::uint32_t index) {
        switch (action.kind) {
            case ActionKind::receive:
                begin_write(rank, action.block);
                time_.post_receive(state, action, index, *this);
                break;
            case ActionKind::send: start_send(rank, state, action, index); break;
            case ActionKind::combine: {
                begin_read(rank, action.block);
                const Block& right = state.plan.local_work(action).right;
                if (!(right == action.block)) begin_read(rank, right);
                time_.work(state, time_.seconds_of_combine(action.block), delay(), index);
                break;
            }
            case ActionKind::copy:
                begin_read(rank, state.plan.pieces(action).from(action.block).bounds());
                time_.work(state, 0, delay(), index);
                break;
        }
    }

    void start_send(Rank rank, VirtualRank& state, const Action& action, std::uint32_t index) {
        begin_read(rank, action.block);
        ++counts(rank).sent;
        counts(rank).volume += action.block.count;
        Transit& message = transits_[index];
        message.data = contents(rank).memory.read(action.block);
        message.buffered = !options_.synchronous && (!random() || std::bernoulli_distribution()(random_));
        time_.post_send(state, action, index, *this);
    }

    void match(Rank from, std::uint32_t sent, Rank to, std::uint32_t received) {
        const Block source = time_.action(sent).block;
        const Block target = time_.action(received).block;
        if (source.count != target.count) {
            throw Error("rank " + std::to_string(from) + " sends " + to_string(source) + ", rank " +
                        std::to_string(to) + " receives " + to_string(target) + ": the counts differ");
        }
        transits_[sent].counterpart = received;
        transits_[received].counterpart = sent;
    }

    void finish(Rank rank, const Plan& plan, const Action& action, std::uint32_t index) {
        Memory& memory = contents(rank).memory;
        switch (action.kind) {
            case ActionKind::receive:
                end_write(rank, action.block);
                memory.write(action.block, std::exchange(transits_[index].data, {}));
                break;
            case ActionKind::send: end_read(rank, action.block); break;
            case ActionKind::combine: finish_combine(rank, action, plan.local_work(action)); break;
            case ActionKind::copy: finish_copy(rank, action, plan.local_work(action), plan.pieces(action)); break;
        }
    }

    void finish_combine(Rank rank, const Action& action, const LocalWork& work) {
        Memory& memory = contents(rank).memory;
        end_read(rank, action.block);
        if (!(work.right == action.block)) end_read(rank, work.right);
        begin_write(rank, work.into);  // at an instant: a clash with anything under way is an error
        end_write(rank, work.into);
        memory.write(work.into,
                     combined(memory.read(action.block), memory.read(work.right), problem_.facts.op.commutative));
        ++counts(rank).operations;
        counts(rank).combined += work.into.count;
        observe(rank, action, work, time_.now() - time_.seconds_of_combine(work.into));
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
