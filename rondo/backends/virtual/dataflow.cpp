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

struct Message {
    std::uint32_t index;  // of its action
    double ready;         // a send: when its last byte would arrive at an idle receiver; a receive: when it was posted
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
        contents_.reserve(outcome_.ranks.size());
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            const auto call = problem.call(rank);
            Plan plan = Plan::of(*call, problem.algorithm);
            if (options.alter) plan = options.alter(rank, std::move(plan));
            time_.add(std::move(plan), options.limits);
            contents_.push_back({problem.memory(rank), {}});
        }
        arriving_.resize(time_.actions());
    }

    Outcome run() {
        outcome_.time = time_.run(options_.costs, problem_.facts.element_bytes, *this);
        for (const auto& [ends, channel] : channels_) {
            if (channel.sends.empty()) continue;
            const auto from = static_cast<Rank>(ends >> 32);
            const std::uint32_t lone = channel.sends.front().index;
            throw Error(where(from, time_.owner(lone).plan, time_.action(lone)) + "nobody receives this");
        }
        std::vector<Memory> memories;
        memories.reserve(contents_.size());
        for (Contents& contents : contents_) memories.push_back(std::move(contents.memory));
        check_result(problem_, memories);
        return std::move(outcome_);
    }

    /// For VirtualTime::run, as `complete`.
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

  private:
    Contents& contents(Rank rank) { return contents_[static_cast<std::size_t>(rank)]; }
    RankCounts& counts(Rank rank) { return outcome_.ranks[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool random() const { return options_.seed != 0; }
    double random_delay() { return random() ? std::exponential_distribution<double>(1.0)(random_) : 0.0; }

    void start_on(Rank rank, VirtualRank& state, const Action& action, std::uint32_t index) {
        switch (action.kind) {
            case ActionKind::receive:
                begin_write(rank, action.block);
                post(action.peer, rank, false, {index, time_.take_message(state), {}});
                break;
            case ActionKind::send: start_send(rank, state, action, index); break;
            case ActionKind::combine:
            case ActionKind::copy:
                begin_read(rank, action.block);
                if (action.kind == ActionKind::combine) {
                    const Block& right = state.plan.local_work(action).right;
                    if (!(right == action.block)) begin_read(rank, right);
                    time_.take_combine(state, action.block);
                }
                time_.schedule(state.processor_free + random_delay(), index);
                break;
        }
    }

    void start_send(Rank rank, VirtualRank& state, const Action& action, std::uint32_t index) {
        begin_read(rank, action.block);
        ++counts(rank).sent;
        counts(rank).volume += action.block.count;
        Message message{index, time_.take_message(state), contents(rank).memory.read(action.block)};
        message.buffered = !options_.synchronous && (!random() || std::bernoulli_distribution()(random_));
        if (message.buffered) {
            leave(state, message, action.block);
            time_.schedule(state.egress_free + random_delay(), index);
        }
        post(rank, action.peer, true, std::move(message));
    }

    /// Puts a message that is ready on the wire; then it is ready to arrive.
    void leave(VirtualRank& sender, Message& message, const Block& block) {
        message.left = time_.leave(sender, message.ready, block);
        message.ready = sender.egress_free + time_.alpha() + random_delay();
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
        const Block source = time_.action(sent.index).block;
        const Block target = time_.action(received.index).block;
        if (source.count != target.count) {
            throw Error("rank " + std::to_string(from) + " sends " + to_string(source) + ", rank " +
                        std::to_string(to) + " receives " + to_string(target) + ": the counts differ");
        }
        if (!sent.buffered) {  // leaves only now that there is somewhere to put it
            sent.ready = std::max(sent.ready, received.ready);
            leave(time_.at(from), sent, source);
        }
        const double arrived = time_.arrive(time_.at(to), std::max(sent.ready, received.ready), source);
        if (options_.observer != nullptr) {
            options_.observer->message({.from = from,
                                        .to = to,
                                        .source = source,
                                        .target = target,
                                        .step_from = time_.action(sent.index).step,
                                        .step_to = time_.action(received.index).step,
                                        .start = sent.left,
                                        .end = arrived,
                                        .data = sent.data});
        }
        arriving_[received.index] = std::move(sent.data);
        ++counts(to).received;
        time_.schedule(arrived + random_delay(), received.index);
        if (!sent.buffered) time_.schedule(arrived + random_delay(), sent.index);
    }

    void finish(Rank rank, const Plan& plan, const Action& action, std::uint32_t index) {
        Memory& memory = contents(rank).memory;
        switch (action.kind) {
            case ActionKind::receive:
                end_write(rank, action.block);
                memory.write(action.block, std::exchange(arriving_[index], {}));
                break;
            case ActionKind::send: end_read(rank, action.block); break;
            case ActionKind::combine: finish_combine(rank, action, plan.local_work(action)); break;
            case ActionKind::copy: finish_copy(rank, action, plan.local_work(action)); break;
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

    void finish_copy(Rank rank, const Action& action, const LocalWork& work) {
        Memory& memory = contents(rank).memory;
        end_read(rank, action.block);
        begin_write(rank, work.into);
        end_write(rank, work.into);
        memory.write(work.into, memory.read(action.block));
        observe(rank, action, work, time_.now());
    }

    void observe(Rank rank, const Action& action, const LocalWork& work, double start) {
        if (options_.observer == nullptr) return;
        options_.observer->local({.rank = rank,
                                  .step = action.step,
                                  .kind = action.kind,
                                  .left = action.block,
                                  .right = work.right,
                                  .into = work.into,
                                  .start = start,
                                  .end = time_.now(),
                                  .data = contents(rank).memory.read(work.into)});
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
    std::vector<Data> arriving_;      // by action: of receives that have been matched
    std::unordered_map<std::uint64_t, Channel> channels_;
    Outcome outcome_;
};

}  // namespace

Outcome run_dataflow(const Problem& problem, const DataflowOptions& options) {
    return Dataflow(problem, options).run();
}

}  // namespace rondo::virtual_machine
