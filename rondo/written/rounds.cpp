// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/rounds.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "rondo/core/error.hpp"

namespace rondo::written {
namespace {

/// A thread block of a rank.
struct Place {
    Rank rank;
    std::size_t block;
};

struct Message {
    Place sender;
    std::size_t step;  ///< of the sender
    Block source;
    Block landing;
    Races::Clock clock;  ///< of that step, where races are looked for
};

struct Connection {
    Place receiver{no_rank, 0};
    std::deque<Message> arrived;  ///< landed in scratch memory, and nobody has taken it yet
};

struct Progress {
    std::size_t next = 0;       ///< step
    bool has_received = false;  ///< its next step has, and has yet to send on
};

/// What a rank does in the round, and where MSCCL's buffers are.
struct RankState {
    std::vector<Progress> blocks;
    std::vector<Block> sending, landing;
    std::vector<Transfer> transfers;
    Block input, output;  ///< of these, the first elements
};

bool touches(const std::vector<Block>& blocks, const Block& block) {
    return std::ranges::any_of(blocks, [&](const Block& each) { return overlap(each, block); });
}

class Rounds {
  public:
    Rounds(const MscclProgram& program, Races* races)
        : program_(program), races_(races), states_(program.blocks.size()) {
        written_.collective = program.collective;
        written_.chunks = program.chunks;
        written_.root = program.root;
        written_.tolerates_in_place = program.in_place || program.collective == "bcast";
        written_.ranks.resize(program.blocks.size());
        for (Rank rank = 0; rank < program.ranks; ++rank) prepare(rank);
    }

    WrittenSchedule run() && {
        while (run_round()) {
        }
        for (Rank rank = 0; rank < program_.ranks; ++rank) expect_end(rank);
        for (const auto& [key, connection] : connections_) {
            if (connection.arrived.empty()) continue;
            const Message& message = connection.arrived.front();
            throw Error(where(program_, message.sender.rank, message.sender.block, message.step) +
                        "no step receives its message");
        }
        for (Rank rank = 0; rank < program_.ranks; ++rank) finish(rank);
        return std::move(written_);
    }

  private:
    // ------------------------------------------------------------ where things are

    RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
    WrittenRank& written(Rank rank) { return written_.ranks[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const MscclBlock& block(const Place& place) const {
        return program_.blocks[static_cast<std::size_t>(place.rank)][place.block];
    }
    [[nodiscard]] bool works_apart() const { return program_.in_place && program_.collective == "reduce_scatter"; }
    [[nodiscard]] Count own_part(Rank rank) const { return rank * (program_.chunks / program_.ranks); }

    Block scratch(Rank rank, Count chunks) {
        Count& used = written(rank).scratch;
        return {std::exchange(used, used + chunks), chunks, Buffer::scratch};
    }

    /// MSCCL's scratch memory comes first. Where input and output are one, that is the output; of a reduce-scatter,
    /// whose output is too short, scratch memory, as is an input that is written to.
    void prepare(Rank rank) {
        RankState& own = state(rank);
        own.blocks.resize(program_.blocks[static_cast<std::size_t>(rank)].size());
        scratch(rank, program_.scratch[static_cast<std::size_t>(rank)]);
        const Block input(0, program_.input_chunks(), Buffer::input);
        own.input = input;
        own.output = {0, program_.output_chunks(), Buffer::output};
        if (works_apart()) {
            own.input = scratch(rank, program_.chunks);
            own.output = own.input.part(own_part(rank), program_.output_chunks());
        } else if (program_.in_place) {
            const Count first = program_.collective == "allgather" ? own_part(rank) : 0;
            own.input = own.output.part(first, input.count);
        } else if (writes_input(rank)) {
            own.input = scratch(rank, input.count);
        }
        const bool is_of_the_root = program_.collective == "bcast" || program_.collective == "scatter";
        if (!(own.input == input) && (!is_of_the_root || rank == program_.root))
            add_local(rank, StepKind::copy, input, {}, own.input);
        for (std::size_t number = 0; number < own.blocks.size(); ++number) connect({rank, number});
    }

    [[nodiscard]] bool writes_input(Rank rank) const {
        for (const MscclBlock& each : program_.blocks[static_cast<std::size_t>(rank)]) {
            for (const MscclStep& step : each.steps) {
                if (step.kind->writes && step.target.buffer == Buffer::input) return true;
            }
        }
        return false;
    }

    void connect(const Place& place) {
        const MscclBlock& found = block(place);
        if (found.receive != no_rank) {
            connections_[{found.receive, place.rank, found.channel}].receiver = place;
        }
    }

    Block placed(Rank rank, const Block& block) {
        if (block.buffer == Buffer::scratch) return block;
        return (block.buffer == Buffer::input ? state(rank).input : state(rank).output).part(block.first, block.count);
    }

    // ------------------------------------------------------------ rounds

    /// False: nothing can happen any more.
    bool run_round() {
        for (RankState& each : states_) {
            each.sending.clear();
            each.landing.clear();
            each.transfers.clear();
        }
        bool moves = false;
        for (Rank rank = 0; rank < program_.ranks; ++rank) {
            while (take_steps(rank)) moves = true;
        }
        for (Message& message : std::exchange(leaving_, {})) deliver(std::move(message));
        for (Rank rank = 0; rank < program_.ranks; ++rank) {
            if (state(rank).transfers.empty()) continue;
            written(rank).steps.push_back({.transfers = state(rank).transfers, .left = {}, .right = {}, .into = {}});
        }
        return moves;
    }

    bool take_steps(Rank rank) {
        bool moves = false;
        for (std::size_t number = 0; number < state(rank).blocks.size(); ++number) {
            while (take_step({rank, number})) moves = true;
        }
        return moves;
    }

    /// The next step of a thread block, if it can be taken in this round.
    bool take_step(const Place& place) {
        const MscclStep* step = next_step(place);
        if (step == nullptr) return false;
        Progress& progress = state(place.rank).blocks[place.block];
        std::optional<Block> outcome = placed(place.rank, step->kind->writes ? step->target : step->source);
        if (!progress.has_received) outcome = outcome_of(place, *step, *outcome);
        if (!outcome) return false;
        if (step->kind->sends) post(place, *outcome);
        progress = {.next = progress.next + 1};
        return true;
    }

    /// Where the outcome of a step stands, once its local work is done: `into`, or where a message has come that is
    /// sent on. Nothing if the step has to wait.
    std::optional<Block> outcome_of(const Place& place, const MscclStep& step, const Block& into) {
        const MscclKind& kind = *step.kind;
        if (!may_start(place.rank, step) || (kind.writes && touches(state(place.rank).sending, into))) return {};
        if (!kind.receives) {
            note(place, step, nullptr);
            if (kind.writes) work(place, step, kind.reduces ? into : placed(place.rank, step.source), into);
            return into;
        }
        std::deque<Message>& arrived = incoming(place).arrived;
        if (arrived.empty()) return {};
        const Message message = std::move(arrived.front());
        arrived.pop_front();
        expect_length(place, step, message);
        note(place, step, &message);
        const Block outcome = kind.writes ? into : message.landing;
        work(place, step, message.landing, outcome);
        return outcome;
    }

    [[nodiscard]] const MscclStep* next_step(const Place& place) {
        const std::vector<MscclStep>& steps = block(place).steps;
        const std::size_t next = state(place.rank).blocks[place.block].next;
        return next < steps.size() ? &steps[next] : nullptr;
    }

    bool may_start(Rank rank, const MscclStep& step) {
        if (step.block < 0) return true;
        return state(rank).blocks[static_cast<std::size_t>(step.block)].next > static_cast<std::size_t>(step.step);
    }

    Connection& incoming(const Place& place) {
        const MscclBlock& found = block(place);
        return connections_[{found.receive, place.rank, found.channel}];
    }

    void expect_length(const Place& place, const MscclStep& step, const Message& message) {
        const Count count = step.kind->writes ? step.target.count : step.source.count;
        if (message.source.count == count) return;
        throw error(place, "receives " + std::to_string(count) + " chunks, but " +
                               where(program_, message.sender.rank, message.sender.block, message.step) + "sends " +
                               std::to_string(message.source.count));
    }

    /// What a step that is taken touches.
    void note(const Place& place, const MscclStep& step, const Message* came) {
        if (races_ == nullptr) return;
        const std::size_t number = state(place.rank).blocks[place.block].next;
        races_->take(place.rank, place.block, number, came != nullptr ? &came->clock : nullptr);
        if (!step.source.empty()) races_->read(placed(place.rank, step.source));
        if (step.kind->writes) races_->write(placed(place.rank, step.target));
    }

    // ------------------------------------------------------------ what is written down

    /// Of a step that leaves something in `into`. `first`: what came; if nothing did, the target of a reduction, or the
    /// source of a copy.
    void work(const Place& place, const MscclStep& step, const Block& first, const Block& into) {
        if (!step.kind->reduces) {
            expect_apart(place, first, into);
            return add_local(place.rank, StepKind::copy, first, {}, into);
        }
        written_.reduces = true;
        const Block source = placed(place.rank, step.source);
        expect_apart(place, first, into);
        expect_apart(place, source, into);
        add_local(place.rank, StepKind::combine, first, source, into);
    }

    void expect_apart(const Place& place, const Block& source, const Block& into) {
        if (overlap(source, into) && !(source == into)) throw error(place, "its source and its target overlap in part");
    }

    /// About the next step of a thread block.
    Error error(const Place& place, const std::string& what) {
        return Error(where(program_, place.rank, place.block, state(place.rank).blocks[place.block].next) + what);
    }

    void add_local(Rank rank, StepKind kind, const Block& left, const Block& right, const Block& into) {
        written(rank).steps.push_back({.kind = kind, .transfers = {}, .left = left, .right = right, .into = into});
    }

    void post(const Place& place, const Block& source) {
        const MscclBlock& found = block(place);
        const std::size_t step = state(place.rank).blocks[place.block].next;
        if (connections_[{place.rank, found.send, found.channel}].receiver.rank == no_rank) {
            throw error(place, "rank " + std::to_string(found.send) + " has no thread block that receives from " +
                                   std::to_string(place.rank) + " in channel " + std::to_string(found.channel));
        }
        state(place.rank).sending.push_back(source);
        leaving_.push_back(
            {place, step, source, {}, races_ != nullptr ? races_->clock(place.rank, place.block) : Races::Clock()});
    }

    void deliver(Message message) {
        const Rank from = message.sender.rank, to = block(message.sender).send;
        Connection& connection = connections_[{from, to, block(message.sender).channel}];
        RankState& receiver = state(to);
        const std::optional<Block> wanted = wanted_by(connection.receiver, connection, message);
        message.landing = wanted ? *wanted : scratch(to, message.source.count);
        state(from).transfers.push_back(send(message.source, to));
        receiver.transfers.push_back(receive(message.landing, from));
        receiver.landing.push_back(message.landing);
        if (!wanted) {
            connection.arrived.push_back(std::move(message));
            return;
        }
        note(connection.receiver, *next_step(connection.receiver), &message);
        Progress& progress = receiver.blocks[connection.receiver.block];
        if (next_step(connection.receiver)->kind->sends) progress.has_received = true;
        else progress = {.next = progress.next + 1};
    }

    /// Where the message may land at once.
    std::optional<Block> wanted_by(const Place& receiver, const Connection& connection, const Message& message) {
        RankState& own = state(receiver.rank);
        const MscclStep* step = next_step(receiver);
        if (step == nullptr || own.blocks[receiver.block].has_received || !connection.arrived.empty()) return {};
        if (!step->kind->receives || step->kind->reduces || !may_start(receiver.rank, *step)) return {};
        expect_length(receiver, *step, message);
        const Block target = placed(receiver.rank, step->target);
        if (touches(own.sending, target) || touches(own.landing, target)) return {};
        return target;
    }

    // ------------------------------------------------------------ the end

    void expect_end(Rank rank) {
        for (std::size_t number = 0; number < state(rank).blocks.size(); ++number) {
            const Place place{rank, number};
            const MscclStep* step = next_step(place);
            if (step == nullptr) continue;
            const bool has_to_wait = !may_start(rank, *step);
            const MscclBlock& found = block(place);
            const std::string awaited =
                has_to_wait ? "step " + std::to_string(step->step) + " of thread block " + std::to_string(step->block)
                            : "a message of rank " + std::to_string(found.receive) + " in channel " +
                                  std::to_string(found.channel);
            throw error(place, "waits for ever for " + awaited);
        }
    }

    void finish(Rank rank) {
        if (works_apart()) {
            const Block output(0, program_.output_chunks(), Buffer::output);
            add_local(rank, StepKind::copy, state(rank).output, {}, output);
        }
    }

    const MscclProgram& program_;
    Races* const races_;
    WrittenSchedule written_;
    std::vector<RankState> states_;
    std::map<std::tuple<Rank, Rank, int>, Connection> connections_;  // of sender, receiver and channel
    std::vector<Message> leaving_;                                   // in this round
};

}  // namespace

WrittenSchedule in_rounds(const MscclProgram& program, Races* races) { return Rounds(program, races).run(); }

}  // namespace rondo::written
