// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory_resource>
#include <string>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/range_map.hpp"
#include "rondo/core/step_check.hpp"

namespace rondo {
namespace {

/// Who wrote a run of elements last, and who has read it since: the latest reader, and through it those before. Runs
/// that were one share their readers.
struct Uses {
    std::uint32_t writer = Action::none;
    std::uint32_t latest_reader = Action::none;  // into PlanBuilder::readers_
};

struct Reader {
    std::uint32_t action;
    std::uint32_t before;
};

struct Edge {
    std::uint32_t action, dependent;
};

}  // namespace

class PlanBuilder {
  public:
    explicit PlanBuilder(const Call& call) : call_(call) {}

    void add(const Step& step) {
        try {
            check(step, call_);
        } catch (const Error& error) {
            throw Error(where() + error.what());
        }
        switch (step.kind) {
            case StepKind::exchange: add_exchange(step); break;
            case StepKind::combine: add_combine(step); break;
            case StepKind::copy: add_copy(step); break;
        }
        ++step_;
    }

    Plan finish() {
        std::uint32_t first = 0;
        std::vector<std::uint32_t>& next = latest_dependent_;  // of no other use any more
        for (std::size_t i = 0; i < plan_.actions_.size(); ++i) {
            next[i] = plan_.actions_[i].first_dependent = first;
            first += plan_.actions_[i].dependents;
        }
        plan_.dependents_.resize(edges_.size());
        for (const Edge& edge : edges_) plan_.dependents_[next[edge.action]++] = edge.dependent;
        plan_.actions_.shrink_to_fit();
        return std::move(plan_);
    }

  private:
    /// Receives stand before the sends of their exchange, so that they are posted first.
    void add_exchange(const Step& step) {
        for (const Direction direction : {Direction::receive, Direction::send}) {
            for (const Transfer& transfer : step.transfers) {
                const Rank peer = step.peer(transfer);
                if (transfer.direction != direction || peer == no_rank) continue;
                const bool receives = direction == Direction::receive;
                const std::uint32_t index = append(receives ? ActionKind::receive : ActionKind::send);
                plan_.actions_[index].block = transfer.block;
                plan_.actions_[index].peer = peer;
                receives ? write(transfer.block, index) : read(transfer.block, index);
                keep_matching_order(peer, direction, index);
            }
        }
    }

    void add_combine(const Step& step) {
        if (step.into.empty()) return;
        const std::uint32_t index = append(ActionKind::combine);
        Action& action = plan_.actions_[index];
        action.block = step.left;
        action.right = step.right;
        action.into = step.into;
        read(step.left, index);
        read(step.right, index);
        write(step.into, index);
    }

    void add_copy(const Step& step) {
        if (step.into.empty() || step.left == step.into) return;
        const std::uint32_t index = append(ActionKind::copy);
        plan_.actions_[index].block = step.left;
        plan_.actions_[index].into = step.into;
        read(step.left, index);
        write(step.into, index);
    }

    std::uint32_t append(ActionKind kind) {
        if (plan_.actions_.size() >= Action::none) throw Error("a schedule of more than 2^32 actions");
        const auto index = static_cast<std::uint32_t>(plan_.actions_.size());
        Action& action = plan_.actions_.emplace_back();
        latest_dependent_.push_back(Action::none);
        action.kind = kind;
        action.step = step_;
        return index;
    }

    void read(const Block& block, std::uint32_t reader) {
        if (block.buffer == Buffer::input) return;  // never written
        note_scratch(block);
        uses(block).visit(block, [&](Count, Count, Uses& run) {
            wait_for(run.writer, reader, block);
            readers_.push_back({reader, run.latest_reader});
            run.latest_reader = static_cast<std::uint32_t>(readers_.size() - 1);
        });
    }

    void write(const Block& block, std::uint32_t writer) {
        note_scratch(block);
        uses(block).replace(block.first, block.last(), Uses{.writer = writer}, [&](Count, Count, const Uses& run) {
            // Readers wait for the last writer already.
            if (run.latest_reader == Action::none) wait_for(run.writer, writer, block);
            for (std::uint32_t i = run.latest_reader; i != Action::none; i = readers_[i].before) {
                const std::uint32_t reader = readers_[i].action;
                wait_for(reader != writer ? reader : run.writer, writer, block);
            }
        });
    }

    void wait_for(std::uint32_t action, std::uint32_t dependent, const Block& block) {
        if (action == Action::none || action == dependent) return;
        if (plan_.actions_[action].step == step_) {
            throw Error(where() + "two transfers of one exchange need the same elements of " + to_string(block));
        }
        if (std::exchange(latest_dependent_[action], dependent) == dependent) return;
        edges_.push_back({action, dependent});
        ++plan_.actions_[action].dependents;
        ++plan_.actions_[dependent].waits_for;
    }

    void keep_matching_order(Rank peer, Direction direction, std::uint32_t index) {
        const auto [last, first_message] = last_message_.try_emplace({peer, direction}, index);
        if (first_message) return;
        plan_.actions_[last->second].next_to_peer = index;
        ++plan_.actions_[index].waits_for;
        last->second = index;
    }

    void note_scratch(const Block& block) {
        if (block.buffer == Buffer::scratch) plan_.scratch_ = std::max(plan_.scratch_, block.last());
    }

    RangeMap<Uses>& uses(const Block& block) { return uses_.at(static_cast<std::size_t>(block.buffer)); }
    [[nodiscard]] std::string where() const { return "step " + std::to_string(step_) + ": "; }

    const Call& call_;
    Plan plan_;
    std::uint32_t step_ = 0;
    std::pmr::monotonic_buffer_resource memory_;  // of what follows
    std::array<RangeMap<Uses>, buffers> uses_{RangeMap<Uses>(&memory_), RangeMap<Uses>(&memory_),
                                              RangeMap<Uses>(&memory_)};
    std::pmr::map<std::pair<Rank, Direction>, std::uint32_t> last_message_{&memory_};
    std::vector<Reader> readers_;
    std::vector<Edge> edges_;                      // by dependent, each once
    std::vector<std::uint32_t> latest_dependent_;  // of each action
};

Plan Plan::of(const Call& call, Schedule& schedule) {
    PlanBuilder builder(call);
    while (const Step* step = schedule.next()) builder.add(*step);
    return builder.finish();
}

Plan Plan::of(const Call& call, const AlgorithmInfo& info) {
    Schedule schedule = schedule_of(call, info);
    return of(call, schedule);
}

Plan Plan::without_dependency(std::uint32_t action, std::uint32_t dependent) const {
    Plan weaker = *this;
    Action& source = weaker.actions_.at(action);
    const auto first = weaker.dependents_.begin() + source.first_dependent;
    const auto found = std::find(first, first + source.dependents, dependent);
    if (found == first + source.dependents) throw Error("the plan has no such dependency");
    std::iter_swap(found, first + source.dependents - 1);
    --source.dependents;
    --weaker.actions_.at(dependent).waits_for;
    return weaker;
}

}  // namespace rondo
