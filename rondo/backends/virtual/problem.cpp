// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/problem.hpp"

#include <algorithm>

#include "rondo/backends/virtual/promise.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

/// The parts of all ranks, in one vector.
std::vector<Block> placed(Rank size, const std::function<Count(Rank rank)>& count, PartTable::Order order,
                          Buffer buffer) {
    std::vector<Block> blocks(static_cast<std::size_t>(size));
    Count next = 0;
    for (Rank i = 0; i < size; ++i) {
        const Rank rank = order.reverse ? size - 1 - i : i;
        Block& block = blocks[static_cast<std::size_t>(rank)];
        block = {next, count(rank), buffer};
        next = block.last() + order.gap;
    }
    return blocks;
}

void expect(Rank rank, Memory& memory, const Block& block, const Symbol& wanted) {
    for (const Piece& piece : memory.peek(block)) {
        // Seen from the block's start every piece speaks of the origin's elements from there on.
        if (piece.symbol == wanted) continue;
        throw Error("rank " + std::to_string(rank) + ": " + to_string(block.part(piece.offset, piece.count)) +
                    " should hold " + wanted.text() + ", holds " + piece.symbol.text());
    }
}

/// The input of every rank once, an element each, in any order.
void expect_every_input(Rank rank, Memory& memory, const Block& block) {
    std::vector<bool> seen(static_cast<std::size_t>(block.count));
    for (Count i = 0; i < block.count; ++i) {
        const Symbol found = memory.peek(block.part(i, 1)).front().symbol;
        const auto origin = static_cast<std::size_t>(found.origin());
        if (found.origin() == no_rank || seen[origin]) {
            throw Error("rank " + std::to_string(rank) + ": " + to_string(block.part(i, 1)) +
                        " should hold the input of one rank more, holds " + found.text());
        }
        seen[origin] = true;
    }
}

std::string describe(const Transfer& transfer, Rank peer) {
    const bool sends = transfer.direction == Direction::send;
    return (sends ? "send " : "receive ") + to_string(transfer.block) + (sends ? " to " : " from ") +
           std::to_string(peer);
}

std::string describe(ActionKind kind, const Block& left, const Block& right, const Block& into) {
    if (kind == ActionKind::combine) {
        return "combine " + to_string(left) + ", " + to_string(right) + " into " + to_string(into);
    }
    return "copy " + to_string(left) + " into " + to_string(into);
}

std::string place(Rank rank, std::int64_t step, const std::string& what) {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(step) + " (" + what + "): ";
}

}  // namespace

PartTable::PartTable(Rank size, const std::function<Count(Rank from, Rank to)>& count, Order order) {
    for (Rank rank = 0; rank < size; ++rank) {
        const auto goes_to = [&](Rank to) { return count(rank, to); };
        const auto comes_from = [&](Rank from) { return count(from, rank); };
        outgoing_.push_back(placed(size, goes_to, {.gap = order.gap}, Buffer::input));
        incoming_.push_back(placed(size, comes_from, order, Buffer::output));
    }
}

PartTable::PartTable(Rank size, Rank root, bool root_sends, const std::function<Count(Rank rank)>& count, Order order)
    : outgoing_(static_cast<std::size_t>(size)), incoming_(static_cast<std::size_t>(size)) {
    const Buffer whole = root_sends ? Buffer::input : Buffer::output;
    const Buffer part = root_sends ? Buffer::output : Buffer::input;
    auto &of_root = root_sends ? outgoing_ : incoming_, &of_each = root_sends ? incoming_ : outgoing_;
    of_root[static_cast<std::size_t>(root)] = placed(size, count, order, whole);
    for (Rank rank = 0; rank < size; ++rank) of_each[static_cast<std::size_t>(rank)] = {Block(0, count(rank), part)};
}

std::unique_ptr<Call> Problem::call(Rank rank) const {
    LocalFacts local{.rank = rank, .in_place = promise_of(algorithm.collective).in_place(*this, rank)};
    if (parts != nullptr) {
        local.incoming = parts->incoming(rank);
        local.outgoing = local.in_place ? local.incoming : parts->outgoing(rank);
    }
    return std::make_unique<Call>(facts, local, settings);
}

Memory Problem::memory(Rank rank) const {
    const bool has_input = promise_of(algorithm.collective).has_input(facts, rank);
    return {rank, has_input ? call(rank)->input() : Block(), algorithm.slot != nullptr};
}

void leave(const Slots& slots, const Block& sent, Memory& memory) {
    if (!slots.hold(sent)) return;
    if (!slots.are(sent)) throw Error("sends " + to_string(sent) + ", which are no slots");
    memory.forget(sent);
}

void check_result(const Problem& problem, std::span<Memory> memories) {
    const Promise& promise = promise_of(problem.algorithm.collective);
    const SharedFacts& facts = problem.facts;
    const bool is_scatter = facts.input == Share::whole_at_root && facts.output == Share::part;
    std::vector<std::unique_ptr<Call>> origins;  // of parts: where each rank has one for each, or the root has
    for (Rank rank = 0; facts.input == Share::own && rank < facts.size; ++rank) origins.push_back(problem.call(rank));
    if (is_scatter) origins.push_back(problem.call(facts.root));
    for (Rank rank = 0; rank < facts.size; ++rank) {
        Memory& memory = memories[static_cast<std::size_t>(rank)];
        const auto call = problem.call(rank);
        const Block input = call->input(), output = call->output();
        const auto expect_input = [&](const Block& block) {
            const Symbol before = promise.has_input(facts, rank) ? Symbol::input_of(rank) : Symbol();
            expect(rank, memory, block, before.moved(input.first - block.first));
        };
        const auto expect_input_around = [&](const Block& result) {
            const Count before = std::clamp<Count>(result.first - input.first, 0, input.count);
            const Count behind = std::clamp<Count>(input.last() - result.last(), 0, input.count);
            expect_input(input.part(0, before));
            expect_input(input.part(input.count - behind, behind));
        };
        const auto expect_output = [&](const Block& block, Rank part) {
            const Symbol result = promise.output(facts, rank, part);
            if (!result.defined() && call->in_place()) expect_input(block);
            else expect(rank, memory, block, result);
        };
        if (promise.in_any_order) {
            expect_every_input(rank, memory, output);
        } else if (facts.input == Share::part && facts.output != Share::part) {
            for (Rank part = 0; part < facts.size; ++part) expect_output(call->incoming(part), part);
        } else if (facts.input == Share::own) {
            for (Rank from = 0; from < facts.size; ++from) {
                const Count start = origins[static_cast<std::size_t>(from)]->outgoing(rank).first;
                expect(rank, memory, call->incoming(from), promise.output(facts, rank, from).moved(-start));
            }
        } else if (is_scatter) {
            const Count start = origins.front()->outgoing(rank).first;
            expect(rank, memory, output, promise.output(facts, rank, rank).moved(-start));
        } else {
            expect_output(output, rank);
        }
        if (!call->in_place()) expect_input(input);
        else expect_input_around(output);
    }
}

std::string where(Rank rank, std::int64_t step_number, const Step& step) {
    if (step.kind != StepKind::exchange) {
        const ActionKind kind = step.kind == StepKind::combine ? ActionKind::combine : ActionKind::copy;
        return place(rank, step_number, describe(kind, step.left, step.right, step.into));
    }
    std::string text;
    for (const Transfer& transfer : step.transfers) {
        const Rank peer = step.peer(transfer);
        if (peer != no_rank) text += (text.empty() ? "" : ", ") + describe(transfer, peer);
    }
    return place(rank, step_number, "exchange: " + text);
}

std::string where(Rank rank, const Plan& plan, const Action& action) {
    if (action.is_transfer()) {
        const Direction direction = action.kind == ActionKind::send ? Direction::send : Direction::receive;
        return place(rank, action.step, describe(Transfer{action.block, action.peer, direction}, action.peer));
    }
    const LocalWork& work = plan.local_work(action);
    return place(rank, action.step, describe(action.kind, action.block, work.right, work.into));
}

std::int64_t Outcome::most_operations() const {
    std::int64_t most = 0;
    for (const RankCounts& counts : ranks) most = std::max(most, counts.operations);
    return most;
}

std::int64_t Outcome::most_volume() const {
    std::int64_t most = 0;
    for (const RankCounts& counts : ranks) most = std::max(most, counts.volume);
    return most;
}

}  // namespace rondo::virtual_machine
