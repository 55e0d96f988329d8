// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/lock_step.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/step_check.hpp"

namespace rondo::virtual_machine {
namespace {

class LockStep {
  public:
    LockStep(const Problem& problem, const CostModel& costs, Observer* observer)
        : problem_(problem), costs_(costs), observer_(observer),
          ports_(std::max<Count>(problem.ports, problem.algorithm.ports_of(problem.settings))) {
        for (Rank rank = 0; rank < problem.facts.size; ++rank) {
            calls_.push_back(problem.call(rank));
            schedules_.push_back(schedule_of(*calls_.back(), problem.algorithm));
            memories_.push_back(problem.memory(rank));
            slots_.push_back(problem.slots(*calls_.back()));
            running_.push_back(rank);
        }
        states_.resize(schedules_.size());
        outcome_.ranks.resize(schedules_.size());
    }

    Outcome run() {
        while (!running_.empty()) {
            const Rank rank = running_.front();
            running_.pop_front();
            advance(rank);
        }
        for (Rank rank = 0; rank < problem_.facts.size; ++rank) {
            const State& state = states_[index(rank)];
            if (state.step != nullptr)
                throw Error(where(rank, state.number, *state.step) + "deadlock: no peer answers");
            outcome_.ranks[index(rank)].time = state.clock;
            outcome_.time = std::max(outcome_.time, state.clock);
        }
        check_result(problem_, memories_);
        return std::move(outcome_);
    }

  private:
    struct State {
        const Step* step = nullptr;  // the exchange that it is in
        std::int64_t number = -1;    // of the step
        double clock = 0;
        double exchange_end = 0;
        std::size_t open_transfers = 0;
    };
    struct Posted {
        Block block;
        double since;
    };
    struct Channel {  // from one rank to another: only one of the two ever waits
        std::deque<Posted> sends, receives;
    };

    static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

    /// Runs local steps, up to an exchange that does not end at once.
    void advance(Rank rank) {
        State& state = states_[index(rank)];
        state.step = nullptr;
        while (const Step* step = schedules_[index(rank)].next()) {
            ++state.number;
            state.step = step;
            try {
                check(*step, *calls_[index(rank)]);
                if (step->kind != StepKind::exchange) execute(rank, *step);
                else if (enter(rank, *step)) return;
            } catch (const Error& error) {
                throw Error(where(rank, state.number, *step) + error.what());
            }
            state.step = nullptr;
        }
    }

    void execute(Rank rank, const Step& step) {
        if (step.into.empty() || step.pieces.number == 0) return;
        Memory& memory = memories_[index(rank)];
        const double start = states_[index(rank)].clock;
        if (step.kind == StepKind::copy) {
            const BlockRow from = step.pieces.from(step.left), into = step.pieces.into(step.into);
            memory.copy(from, into);
            observe(rank, ActionKind::copy, from.bounds(), into, start);
            return;
        }
        memory.write(step.into,
                     combined(memory.read(step.left), memory.read(step.right), problem_.facts.op.commutative));
        RankCounts& counts = outcome_.ranks[index(rank)];
        ++counts.operations;
        counts.combined += step.into.count;
        states_[index(rank)].clock +=
            costs_.gamma * static_cast<double>(step.into.count * problem_.facts.element_bytes);
        observe(rank, ActionKind::combine, step.left, step.into, start, step.right);
    }

    void observe(Rank rank, ActionKind kind, const Block& left, const BlockRow& into, double start,
                 const Block& right = {}) {
        if (observer_ == nullptr) return;
        const State& state = states_[index(rank)];
        observer_->local({.rank = rank,
                          .step = state.number,
                          .kind = kind,
                          .left = left,
                          .right = right,
                          .into = into.bounds(),
                          .start = start,
                          .end = state.clock,
                          .data = memories_[index(rank)].read(into)});
    }

    /// True if the rank has to wait.
    bool enter(Rank rank, const Step& step) {
        State& state = states_[index(rank)];
        check_together(step);
        state.exchange_end = state.clock;
        for (const Transfer& transfer : step.transfers) {
            if (step.peer(transfer) != no_rank) ++state.open_transfers;
        }
        if (state.open_transfers == 0) return false;
        for (const Transfer& transfer : step.transfers) {
            if (const Rank peer = step.peer(transfer); peer != no_rank) post(rank, peer, transfer);
        }
        return true;  // even when all is over: `running_` brings it back
    }

    /// What one exchange may hold at a time.
    void check_together(const Step& step) const {
        int sends = 0, receives = 0;
        for (const Transfer& transfer : step.transfers) {
            if (step.peer(transfer) == no_rank) continue;
            ++(transfer.direction == Direction::send ? sends : receives);
            if (transfer.direction != Direction::receive) continue;
            for (const Transfer& other : step.transfers) {
                if (&other != &transfer && step.peer(other) != no_rank && overlap(transfer.block, other.block)) {
                    throw Error("two transfers of one exchange overlap in " + to_string(transfer.block));
                }
            }
        }
        if (std::max(sends, receives) > ports_) {
            throw Error("uses " + std::to_string(std::max(sends, receives)) + " ports, has " + std::to_string(ports_));
        }
    }

    void post(Rank rank, Rank peer, const Transfer& transfer) {
        const bool sends = transfer.direction == Direction::send;
        const auto [from, to] = sends ? std::pair(rank, peer) : std::pair(peer, rank);
        Channel& channel = channels_[std::uint64_t(from) << 32 | std::uint64_t(to)];
        (sends ? channel.sends : channel.receives).push_back({transfer.block, states_[index(rank)].clock});
        if (channel.sends.empty() || channel.receives.empty()) return;
        deliver(from, channel.sends.front(), to, channel.receives.front());
        channel.sends.pop_front();
        channel.receives.pop_front();
    }

    void deliver(Rank from, const Posted& sent, Rank to, const Posted& received) {
        if (sent.block.count != received.block.count) {
            throw Error("rank " + std::to_string(from) + " sends " + to_string(sent.block) + ", rank " +
                        std::to_string(to) + " receives " + to_string(received.block) + ": the counts differ");
        }
        const Data data = memories_[index(from)].read(sent.block);
        leave(slots_[index(from)], sent.block, memories_[index(from)]);
        memories_[index(to)].write(received.block, data);
        const double bytes = static_cast<double>(sent.block.count * problem_.facts.element_bytes);
        const double start = std::max(sent.since, received.since);
        const double end = start + seconds_of_message(from, to, bytes);
        if (observer_ != nullptr) {
            observer_->message({.from = from,
                                .to = to,
                                .source = sent.block,
                                .target = received.block,
                                .step_from = states_[index(from)].number,
                                .step_to = states_[index(to)].number,
                                .start = start,
                                .end = end,
                                .data = data});
        }
        RankCounts& counts = outcome_.ranks[index(from)];
        ++counts.sent;
        counts.volume += sent.block.count;
        ++outcome_.ranks[index(to)].received;
        for (const Rank rank : {from, to}) {
            State& state = states_[index(rank)];
            state.exchange_end = std::max(state.exchange_end, end);
            if (--state.open_transfers > 0) continue;
            state.clock = state.exchange_end;
            running_.push_back(rank);
        }
    }

    [[nodiscard]] double seconds_of_message(Rank from, Rank to, double bytes) const {
        const Placement* placement = problem_.facts.placement;
        if (placement != nullptr && placement->place(from).node == placement->place(to).node) {
            if (costs_.inside) return costs_.inside->alpha + costs_.inside->beta * bytes;
            return costs_.alpha + costs_.beta * bytes;
        }
        const double wait = bytes > static_cast<double>(costs_.eager) ? costs_.rendezvous : 0;
        return wait + costs_.alpha + costs_.beta * bytes;
    }

    const Problem& problem_;
    const CostModel costs_;
    Observer* const observer_;
    const Count ports_;
    std::vector<std::unique_ptr<Call>> calls_;
    std::vector<Schedule> schedules_;
    std::vector<Memory> memories_;
    std::vector<Slots> slots_;
    std::vector<State> states_;
    std::deque<Rank> running_;
    std::unordered_map<std::uint64_t, Channel> channels_;
    Outcome outcome_;
};

}  // namespace

Outcome run_lock_step(const Problem& problem, const CostModel& costs, Observer* observer) {
    return LockStep(problem, costs, observer).run();
}

}  // namespace rondo::virtual_machine
