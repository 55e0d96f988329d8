// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/binary_blocks.hpp"

#include <ranges>

namespace rondo {

Schedule reduce_into_largest(const Call& call, const Halving& halving, Block work) {
    const auto [r, p] = call.ranks();
    const BinaryBlock block = BinaryBlock::of(r, p), larger = block.larger(), smaller = block.smaller(p);
    const Block mine = within(work, halving.part());
    Block sum = call.input();
    if (block.size > 1) {
        Schedule steps = halve(call, halving, call.input(), work, mine);
        co_yield steps_of(steps);
        sum = mine;
    }
    // The ranks of a larger block whose numbers end like that of a rank here have, together, its part.
    if (smaller.size > 0) {
        const Block arrived = call.scratch(mine.count);
        co_yield exchange(receive(arrived, smaller.first + halving.number() % smaller.size));
        co_yield combine(mine, arrived).into(mine);
    }
    for (Rank number = halving.number(); number < larger.size; number += block.size) {
        Block theirs = sum;
        for (Rank bit = block.size; bit < larger.size; bit *= 2) theirs = Parts(theirs, 2)[(number & bit) == 0 ? 0 : 1];
        co_yield exchange(send(theirs, larger.first + number));
    }
    if (p == 1) co_yield copy(sum).into(mine);
}

Schedule spread_from_largest(const Call& call, const Halving& halving, Block vector) {
    const auto [r, p] = call.ranks();
    const BinaryBlock block = BinaryBlock::of(r, p), larger = block.larger(), smaller = block.smaller(p);
    // Two ranks of the larger block give half a part each, as soon as they have it.
    const Parts halves(within(vector, halving.part()), 2);
    for (const Rank half : {0, 1}) {
        const Rank from = larger.size > 0 ? larger.first + halving.number() + half * block.size : no_rank;
        co_yield exchange(receive(halves[half], from));
    }
    for (const Halving::Round& round : std::views::reverse(halving.rounds())) {
        if (round.bit == smaller.size && halving.number() < 2 * smaller.size) {
            const Rank to = smaller.first + halving.number() % smaller.size;
            co_yield exchange(send(within(vector, round.kept), to));
        }
        co_yield exchange(send(within(vector, round.kept), round.partner),
                          receive(within(vector, round.given), round.partner));
    }
}

}  // namespace rondo
