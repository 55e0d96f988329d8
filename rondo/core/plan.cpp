// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/plan.hpp"

#include <algorithm>
#include <array>
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

constexpr std::uint32_t most_steps = std::uint32_t{1} << step_bits;

/// The latest message in each direction with each peer. A hash table with at least as many free slots: a plan of
/// thousands of messages asks for each of them.
class LatestMessages {
  public:
    explicit LatestMessages(std::pmr::memory_resource* memory) : slots_(std::size_t{1} << bits_, memory) {}

    /// Makes `message` the latest; the one before, or Action::none.
    std::uint32_t replace(Rank peer, Direction direction, std::uint32_t message) {
        Slot& slot = slot_of({peer, direction});
        if (slot.peer == no_rank) {
            slot = {peer, direction, message};
            if (2 * ++used_ > slots_.size()) grow();
            return Action::none;
        }
        return std::exchange(slot.message, message);
    }

  private:
    struct Slot {
        Rank peer = no_rank;
        Direction direction = Direction::receive;
        std::uint32_t message = Action::none;
    };

    /// Where this one is, or belongs.
    Slot& slot_of(const Slot& wanted) {
        constexpr std::uint32_t golden = 0x9E3779B9;  // Knuth, The Art of Computer Programming 3, section 6.4
        const std::uint32_t key = 2 * static_cast<std::uint32_t>(wanted.peer) + (wanted.direction == Direction::send);
        for (std::size_t at = key * golden >> (32 - bits_);; at = (at + 1) % slots_.size()) {
            Slot& slot = slots_[at];
            if (slot.peer == no_rank || (slot.peer == wanted.peer && slot.direction == wanted.direction)) return slot;
        }
    }

    void grow() {
        std::pmr::vector<Slot> old(std::size_t{1} << ++bits_, slots_.get_allocator());
        old.swap(slots_);
        for (const Slot& each : old) {
            if (each.peer != no_rank) slot_of(each) = each;
        }
    }

    unsigned bits_ = 4;
    std::size_t used_ = 0;
    std::pmr::vector<Slot> slots_;
};

}  // namespace

class PlanBuilder {
  public:
    PlanBuilder(const Call& call, bool knows_nodes, const Slots& slots)
        : call_(call), node_(knows_nodes ? call.place(call.ranks().first).node : no_rank) {
        plan_.slots_ = slots;
        // Nothing grows: most plans have few actions, those of all with all a send and a receive for each rank, and
        // some copies. On pages that nobody has touched yet, growing costs more than all the rest.
        const auto ranks = static_cast<std::size_t>(call.facts().size);
        const std::size_t expected = call.facts().input == Share::own ? 2 * ranks + ranks / 16 + few : few;
        plan_.actions_.reserve(expected);
        plan_.waits_for_.reserve(expected);
        latest_dependent_.reserve(expected);
        readers_.reserve(expected);
        edges_.reserve(expected);
    }

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
        if (++step_ == most_steps) throw Error("a schedule of more than 2^29 steps");
    }

    Plan finish() {
        std::uint32_t first = 0;
        std::pmr::vector<std::uint32_t>& next = latest_dependent_;  // of no other use any more
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            next[i] = first;
            first += std::exchange(actions_[i].first_dependent, first);  // so far: how many
        }
        actions_.emplace_back().first_dependent = first;
        plan_.dependents_.resize(edges_.size());
        for (const Edge& edge : edges_) plan_.dependents_[next[edge.action]++] = edge.dependent;
        plan_.local_work_.assign(local_work_.begin(), local_work_.end());
        give_back_excess(actions_);
        give_back_excess(waits_for_);
        plan_.find_ready();
        return std::move(plan_);
    }

  private:
    static constexpr std::size_t few = 16;

    /// Plans live long. Copying costs time, so a little may stay.
    template <class Element>
    static void give_back_excess(std::vector<Element>& elements) {
        if (elements.capacity() > elements.size() + elements.size() / 8) elements.shrink_to_fit();
    }

    /// Receives stand before the sends of their exchange, so that they are posted first.
    void add_exchange(const Step& step) {
        for (const Direction direction : {Direction::receive, Direction::send}) {
            for (const Transfer& transfer : step.transfers) {
                const Rank peer = step.peer(transfer);
                if (transfer.direction != direction || peer == no_rank) continue;
                const bool receives = direction == Direction::receive;
                const std::uint32_t index = append(receives ? ActionKind::receive : ActionKind::send);
                actions_[index].block = transfer.block;
                actions_[index].peer = peer;
                actions_[index].inside = is_on_own_node(peer);
                plan_.longest_message_ = std::max(plan_.longest_message_, transfer.block.count);
                if (!receives) read(transfer.block, index);
                if (receives || plan_.slots_.hold(transfer.block)) write(transfer.block, index);
                keep_matching_order(peer, direction, index);
            }
        }
    }

    void add_combine(const Step& step) {
        if (step.into.empty()) return;
        const std::uint32_t index = append_local(ActionKind::combine, step);
        read(step.left, index);
        read(step.right, index);
        write(step.into, index);
    }

    void add_copy(const Step& step) {
        const BlockRow from = step.pieces.from(step.left), into = step.pieces.into(step.into);
        if (into.empty() || step.left == step.into) return;
        const std::uint32_t index = append_local(ActionKind::copy, step);
        if (step.pieces.number > 1) {
            actions_[index].peer = static_cast<Rank>(plan_.pieces_.size());
            plan_.pieces_.push_back(step.pieces);
        }
        read(from.bounds(), index);
        write(into.bounds(), index);
    }

    [[nodiscard]] bool is_on_own_node(Rank peer) const { return node_ != no_rank && call_.place(peer).node == node_; }

    std::uint32_t append(ActionKind kind) {
        if (actions_.size() >= Action::none) throw Error("a schedule of more than 2^32 actions");
        const auto index = static_cast<std::uint32_t>(actions_.size());
        Action& action = actions_.emplace_back();
        waits_for_.push_back(0);
        latest_dependent_.push_back(Action::none);
        action.kind = kind;
        action.step = step_ & (most_steps - 1);
        return index;
    }

    std::uint32_t append_local(ActionKind kind, const Step& step) {
        const std::uint32_t index = append(kind);
        actions_[index].block = step.left;
        actions_[index].link = static_cast<std::uint32_t>(local_work_.size());
        local_work_.push_back({step.right, step.into});
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
        if (actions_[action].step == step_) {
            throw Error(where() + "two transfers of one exchange need the same elements of " + to_string(block));
        }
        if (std::exchange(latest_dependent_[action], dependent) == dependent) return;
        edges_.push_back({action, dependent});
        ++actions_[action].first_dependent;  // how many, until all are known
        ++waits_for_[dependent];
    }

    void keep_matching_order(Rank peer, Direction direction, std::uint32_t index) {
        const std::uint32_t before = latest_messages_.replace(peer, direction, index);
        if (before == Action::none) return;
        actions_[before].link = index;
        ++waits_for_[index];
    }

    void note_scratch(const Block& block) {
        if (block.buffer == Buffer::scratch) plan_.scratch_ = std::max(plan_.scratch_, block.last());
    }

    RangeMap<Uses>& uses(const Block& block) { return uses_.at(static_cast<std::size_t>(block.buffer)); }
    [[nodiscard]] std::string where() const { return "step " + std::to_string(step_) + ": "; }

    const Call& call_;
    const Rank node_;  // no_rank: unknown
    Plan plan_;
    std::vector<Action>& actions_ = plan_.actions_;
    std::vector<std::uint32_t>& waits_for_ = plan_.waits_for_;
    std::uint32_t step_ = 0;
    std::array<std::byte, 4096> first_memory_;
    std::pmr::monotonic_buffer_resource memory_{first_memory_.data(), first_memory_.size()};  // of what follows
    // As in the plan, but growing.
    std::pmr::vector<LocalWork> local_work_{&memory_};
    std::array<RangeMap<Uses>, buffers> uses_{RangeMap<Uses>(&memory_), RangeMap<Uses>(&memory_),
                                              RangeMap<Uses>(&memory_)};
    LatestMessages latest_messages_{&memory_};
    std::pmr::vector<Reader> readers_{&memory_};
    std::pmr::vector<Edge> edges_{&memory_};                      // by dependent, each once
    std::pmr::vector<std::uint32_t> latest_dependent_{&memory_};  // of each action
};

Plan Plan::of(const Call& call, Schedule& schedule) { return of(call, schedule, true, {}); }

Plan Plan::of(const Call& call, const AlgorithmInfo& info) {
    Schedule schedule = schedule_of(call, info);
    if (info.slot == nullptr) return of(call, schedule, info.uses_nodes, {});
    const Slots slots = slots_of(call, info.slot(call.facts(), call.settings()));
    Plan plan = of(call, schedule, info.uses_nodes, slots);
    for (const Block& part : call.local().outgoing) {
        plan.lengths_in_slots_.push_back(part.count <= slots.longest() ? static_cast<std::uint32_t>(part.count) : 0);
    }
    return plan;
}

Plan Plan::of(const Call& call, Schedule& schedule, bool knows_nodes, const Slots& slots) {
    PlanBuilder builder(call, knows_nodes && call.facts().placement != nullptr, slots);
    while (const Step* step = schedule.next()) builder.add(*step);
    return builder.finish();
}

Plan Plan::without_dependency(std::uint32_t action, std::uint32_t dependent) const {
    Plan weaker = *this;
    const auto first = weaker.dependents_.begin() + actions_.at(action).first_dependent;
    const auto last = weaker.dependents_.begin() + actions_.at(action + 1).first_dependent;
    const auto found = std::find(first, last, dependent);
    if (found == last) throw Error("the plan has no such dependency");
    weaker.dependents_.erase(found);
    for (std::size_t later = action + 1; later < actions_.size(); ++later) --weaker.actions_[later].first_dependent;
    --weaker.waits_for_.at(dependent);
    weaker.find_ready();
    return weaker;
}

std::uint32_t Plan::sole_combine(std::uint32_t receive) const {
    const auto waiting = dependents(receive);
    const Block& block = actions_[receive].block;
    if (waiting.size() != 1) return Action::none;
    const Action& combine = actions_[waiting.front()];
    if (combine.kind != ActionKind::combine) return Action::none;
    const LocalWork& work = local_work(combine);
    const bool is_left = combine.block == block, is_right = work.right == block;
    const bool is_one_operand =
        (is_left && !overlap(work.right, block)) || (is_right && !overlap(combine.block, block));
    const bool leaves_nothing = block.buffer == Buffer::scratch || work.into == block;
    return is_one_operand && leaves_nothing ? waiting.front() : Action::none;
}

void Plan::find_ready() {
    ready_at_once_.clear();
    ready_at_once_.reserve(static_cast<std::size_t>(std::ranges::count(waits_for_, 0U)));
    for (std::uint32_t action = 0; action < waits_for_.size(); ++action) {
        if (waits_for_[action] == 0) ready_at_once_.push_back(action);
    }
}

}  // namespace rondo
