// SPDX-License-Identifier: BSD-3-Clause
// What one rank does next: the words in which algorithms are written.
//
//   co_yield exchange(send(mine, right), receive(theirs, left));
//   co_yield combine(theirs, mine).into(mine);
//   co_yield copy(mine).into(yours);
#pragma once

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

/// into = from. Equal counts; the same block (then nothing happens) or no overlap.
struct Copy {
    Block from, target;
};

struct CombineOperands {
    Block left, right;
    [[nodiscard]] constexpr Combine into(Block target) const { return {left, right, target}; }
};

struct CopySource {
    Block from;
    [[nodiscard]] constexpr Copy into(Block target) const { return {from, target}; }
};

[[nodiscard]] constexpr CombineOperands combine(Block left, Block right) { return {left, right}; }
[[nodiscard]] constexpr CopySource copy(Block from) { return {from}; }

enum class StepKind : std::uint8_t { exchange, combine, copy };

/// A step as the reader of a schedule sees it: a view, valid until the schedule is asked for the next one.
struct Step {
    StepKind kind = StepKind::exchange;
    std::span<const Transfer> transfers;  ///< of an exchange; peers in the numbering of `group`
    Block left, right, into;              ///< of a combine; a copy goes from `left` to `into`
    const RankMap* group = nullptr;

    /// The peer in the numbering of the whole communicator, or `no_rank` if this transfer does not happen.
    [[nodiscard]] Rank peer(const Transfer& transfer) const {
        return transfer.block.empty() ? no_rank : (*group)(transfer.peer);
    }
};

}  // namespace rondo
