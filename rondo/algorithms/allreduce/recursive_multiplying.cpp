// SPDX-License-Identifier: BSD-3-Clause
// Recursive multiplying: in every round groups of up to `radix` ranks exchange their sums, all with all, and all of
// them add them, in rank order; the exchanges of a round do not depend on each other. The group sizes, of any mixture,
// multiply to the largest number up to p that has such factors; the ranks beyond that go through a neighbour.
// [ruefenacht2017generalisation]. Short vectors, whole in every message. Rounds: group size - 1 for every group, two
// more if p has no such factors; operations: as many, or one more.
#include <algorithm>
#include <array>

#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/fold.hpp"

namespace rondo::allreduce {

namespace {

/// The largest product of primes up to `largest_prime` that does not exceed `limit`.
Rank largest_product(Rank limit, Rank largest_prime) {
    Rank best = 1;
    for (const Rank prime : {2, 3, 5, 7}) {
        if (prime <= largest_prime && prime <= limit) {
            best = std::max(best, prime * largest_product(limit / prime, prime));
        }
    }
    return best;
}

/// The size of the next group: the largest factor, as far as `radix`, of what is left.
Rank next_factor(Rank left, Rank radix) {
    Rank factor = std::min(left, radix);
    while (left % factor != 0) --factor;
    return factor;
}

/// All groups, on the ranks that stay, from the sum of this rank to that of all in `result`.
Schedule multiply_all(const Call& call, const Fold& fold, Block partial, Rank radix) {
    const Rank number = fold.number_of(call.ranks().first);
    // One buffer for each other member, and what is summed up; those of two rounds in turn.
    std::array<std::array<Block, largest_radix>, 2> buffers;
    for (Rank i = 0; i < radix; ++i) {
        for (auto& of_round : buffers) of_round.at(static_cast<std::size_t>(i)) = call.scratch();
    }

    bool odd = false;
    for (Rank span = 1, size; span < fold.size(); span *= size, odd = !odd) {
        size = next_factor(fold.size() / span, radix);
        const auto& scratch = buffers.at(odd ? 1 : 0);
        const Rank own = number / span % size, first = number - own * span;
        std::array<Block, largest_radix> sums;  // by member
        for (Rank i = 0; i < size; ++i) sums.at(static_cast<std::size_t>(i)) = scratch.at(static_cast<std::size_t>(i));
        const Block sum = sums.at(static_cast<std::size_t>(own));
        sums.at(static_cast<std::size_t>(own)) = partial;
        for (Rank i = 1; i < size; ++i) {
            const Rank to = (own + i) % size, from = (own + size - i) % size;
            co_yield exchange(send(partial, fold.rank_of(first + to * span)),
                              receive(sums.at(static_cast<std::size_t>(from)), fold.rank_of(first + from * span)));
        }
        Block left = sums.front();
        for (Rank i = 1; i < size; ++i) {
            const bool is_last = i + 1 == size && span * size == fold.size();
            const Block right = sums.at(static_cast<std::size_t>(i)), into = is_last ? call.output() : sum;
            if (i == 1 && into == left) {  // in place, two ranks: the other one combines into its right operand
                co_yield combine(left, right).into(right);
                co_yield copy(right).into(into);
            } else {
                co_yield combine(left, right).into(into);
            }
            left = into;
        }
        partial = left;
    }
}

}  // namespace

Schedule multiply(const Call& call, Rank radix) {
    const auto [r, p] = call.ranks();
    const Fold fold(p, largest_product(p, radix));
    const Rank neighbour = Fold::neighbour(r);
    Block partial = call.input();
    if (fold.leaves(r)) {
        co_yield exchange(send(partial, neighbour));
        co_yield exchange(receive(call.output(), neighbour));
        co_return;
    }
    if (fold.is_paired(r)) {
        const Block both = call.scratch();
        co_yield exchange(receive(both, neighbour));
        co_yield combine(partial, both).into(both);
        partial = both;
    }
    Schedule groups = multiply_all(call, fold, partial, radix);
    co_yield steps_of(groups);
    if (fold.is_paired(r)) co_yield exchange(send(call.output(), neighbour));
    if (p == 1) co_yield copy(partial).into(call.output());
}

Schedule recursive_multiplying(const Call& call) { return multiply(call, static_cast<Rank>(call.setting("radix"))); }

const AlgorithmInfo recursive_multiplying_info = {
    .collective = "allreduce",
    .name = "recursive_multiplying",
    .summary =
        "groups exchange whole sums, all with all: fewer rounds, more messages, for short vectors, in rank order",
    .citation = "ruefenacht2017generalisation",
    .parameters = {&multiplying_radix, 1},
    .tolerates_in_place = true,
    .schedule = recursive_multiplying,
};

}  // namespace rondo::allreduce
