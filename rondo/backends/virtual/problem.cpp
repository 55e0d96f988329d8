// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/problem.hpp"

#include <algorithm>

#include "rondo/backends/virtual/promise.hpp"
#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

void expect(Rank rank, Memory& memory, const Block& block, const Symbol& wanted) {
    for (const Piece& piece : memory.peek(block)) {
        // Seen from the block's start every piece speaks of the origin's elements from there on.
        if (piece.symbol == wanted) continue;
        throw Error("rank " + std::to_string(rank) + ": " + to_string(block.part(piece.offset, piece.count)) +
                    " should hold " + wanted.text() + ", holds " + piece.symbol.text());
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

std::unique_ptr<Call> Problem::call(Rank rank) const {
    return std::make_unique<Call>(facts, rank, settings, promise_of(algorithm.collective).in_place(*this, rank));
}

Memory Problem::memory(Rank rank) const {
    const Promise& promise = promise_of(algorithm.collective);
    if (!promise.has_input(facts, rank)) return {rank, Block()};
    const Buffer buffer = promise.in_place(*this, rank) ? Buffer::output : Buffer::input;
    return {rank, Block(0, facts.count, buffer)};
}

void check_result(const Problem& problem, std::span<Memory> memories) {
    const Promise& promise = promise_of(problem.algorithm.collective);
    const Block output(0, problem.facts.count, Buffer::output);
    const Block input(0, problem.facts.count, Buffer::input);
    for (Rank rank = 0; rank < problem.facts.size; ++rank) {
        Memory& memory = memories[static_cast<std::size_t>(rank)];
        const bool in_place = promise.in_place(problem, rank);
        const Symbol before = promise.has_input(problem.facts, rank) ? Symbol::input_of(rank) : Symbol();
        const Symbol result = promise.output(problem.facts, rank);
        expect(rank, memory, output, result.defined() || !in_place ? result : before);
        if (!in_place) expect(rank, memory, input, before);
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

std::string where(Rank rank, const Action& action) {
    if (action.kind == ActionKind::send || action.kind == ActionKind::receive) {
        const Direction direction = action.kind == ActionKind::send ? Direction::send : Direction::receive;
        return place(rank, action.step, describe(Transfer{action.block, action.peer, direction}, action.peer));
    }
    return place(rank, action.step, describe(action.kind, action.block, action.right, action.into));
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
