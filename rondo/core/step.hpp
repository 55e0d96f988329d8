// SPDX-License-Identifier: BSD-3-Clause
// What one rank does next: the words in which algorithms are written.
//
//   co_yield exchange(send(mine, right), receive(theirs, left));
//   co_yield combine(theirs, mine).into(mine);
//   co_yield copy(mine).into(yours);
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "rondo/core/block.hpp"
#include "rondo/core/rank_map.hpp"

namespace rondo {

enum class Direction : std::uint8_t { send, receive };

/// One message of an exchange. A peer outside the group, or an empty block, means that it does not happen; both ends
/// must agree on that.
struct Transfer {
    Block block;
    Rank peer;
    Direction direction;
};

[[nodiscard]] constexpr Transfer send(Block block, Rank to) { return {block, to, Direction::send}; }
[[nodiscard]] constexpr Transfer receive(Block block, Rank from) { return {block, from, Direction::receive}; }

/// Transfers that happen together: one send and one receive is the one-ported model of the papers, k of each the
/// k-ported model. No block that is received may overlap another block of the same exchange.
/// Messages between two ranks match in the order in which each of them names them.
template <std::size_t N>
struct Exchange {
    std::array<Transfer, N> transfers;
};

/// Trivially destructible arguments only: GCC 12 destroys other temporaries of a co_yield expression twice. It may also
/// evaluate both sides of a conditional expression in there: name the result before.
template <std::same_as<Transfer>... Transfers>
[[nodiscard]] constexpr Exchange<sizeof...(Transfers)> exchange(const Transfers&... transfers) {
    return {{transfers...}};
}

/// As many transfers as the span holds; what it points to must stay until the step is over.
[[nodiscard]] constexpr std::span<const Transfer> exchange(std::span<const Transfer> transfers) { return transfers; }

/// into = left (+) right, element by element, operands in rank order. The three blocks have equal counts; `into` is
/// `left`, or `right`, or overlaps neither.
struct Combine {
    Block left, right, target;
};

/// `number` blocks of equal length: `first`, and each other one `distance` elements behind the one before it (before
/// it, if negative). A block is one of them.
struct BlockRow {
    Block first;
    Count number = 1;
    Count distance = 0;

    constexpr BlockRow(Block block)
        : first(block) {}  // NOLINT(google-explicit-constructor): a block may stand for a row
    constexpr BlockRow(Block first_block, Count blocks, Count between)
        : first(first_block), number(blocks), distance(between) {}

    [[nodiscard]] constexpr Block operator[](Count index) const {
        return {first.first + index * distance, first.count, first.buffer};
    }
    [[nodiscard]] constexpr bool empty() const { return number == 0 || first.empty(); }
    /// From the first element of any of them to the last.
    [[nodiscard]] constexpr Block bounds() const {
        if (empty()) return {first.first, 0, first.buffer};
        const Count beyond = (number - 1) * distance;
        return {first.first + std::min<Count>(0, beyond), first.count + std::max(beyond, -beyond), first.buffer};
    }
};

/// into = from. Equal counts; the same block (then nothing happens) or no overlap. Rows have as many blocks, and
/// their bounds do not overlap; for dependencies, all between the bounds counts as copied.
struct Copy {
    BlockRow from, target;
};

struct CombineOperands {
    Block left, right;
    [[nodiscard]] constexpr Combine into(Block target) const { return {left, right, target}; }
};

struct CopySource {
    BlockRow from;
    [[nodiscard]] constexpr Copy into(BlockRow target) const { return {from, target}; }
};

[[nodiscard]] constexpr CombineOperands combine(Block left, Block right) { return {left, right}; }
[[nodiscard]] constexpr CopySource copy(BlockRow from) { return {from}; }

/// How a copy goes on behind its first blocks: see BlockRow.
struct Pieces {
    Count number = 1;
    Count from_distance = 0, into_distance = 0;

    [[nodiscard]] constexpr BlockRow from(Block first) const { return {first, number, from_distance}; }
    [[nodiscard]] constexpr BlockRow into(Block first) const { return {first, number, into_distance}; }
};

enum class StepKind : std::uint8_t { exchange, combine, copy };

/// A step as the reader of a schedule sees it: a view, valid until the schedule is asked for the next one.
struct Step {
    StepKind kind = StepKind::exchange;
    std::span<const Transfer> transfers;  ///< of an exchange; peers in the numbering of `group`
    Block left, right, into;              ///< of a combine; a copy goes from `left` to `into`
    Pieces pieces;                        ///< of a copy, whose blocks are the first ones
    const RankMap* group = nullptr;

    /// The peer in the numbering of the whole communicator, or `no_rank` if this transfer does not happen.
    [[nodiscard]] Rank peer(const Transfer& transfer) const {
        return transfer.block.empty() ? no_rank : (*group)(transfer.peer);
    }
};

}  // namespace rondo
