// SPDX-License-Identifier: BSD-3-Clause
// Butterfly: recursive halving between neighbours of distance 1, 2, 4, ..., so that partial sums stay in rank order;
// the parts come out in bit-reversed order, and go to their ranks in one more round. Of ranks beyond a power of two P,
// each hands its vector to a neighbour first, and gets its part last. [rabenseifner2004more]. For operators that do not
// commute. Rounds: log2 P, one more if P > 2, two more if p > P. Volume: about m; one after the other 2m if
// p > P.
#include <bit>

#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"

namespace rondo::reduce_scatter {

namespace {

/// The ranks that stay: of the first `extra` pairs of neighbours, the lower one. Each stands for its pair.
struct Survivors {
    Rank size, extra;

    explicit Survivors(Rank ranks)
        : size(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks)))), extra(ranks - size) {}
    [[nodiscard]] Rank number_of(Rank rank) const { return rank < 2 * extra ? rank / 2 : rank - extra; }
    [[nodiscard]] Rank rank_of(Rank number) const { return number < extra ? 2 * number : number + extra; }
    /// Who has the sums for a number in the end; and the other way round.
    [[nodiscard]] Rank reversed(Rank number) const {
        Rank result = 0;
        for (Rank bit = 1; bit < size; bit *= 2, number /= 2) result = 2 * result + number % 2;
        return result;
    }
};

}  // namespace

Schedule butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;

    const Survivors survivors(p);
    const Rank number = survivors.number_of(r), reversed = survivors.reversed(number);
    const Rank mirror = survivors.rank_of(reversed);  // has the sums of the own part, and gets its own from here
    const Parts inputs = call.parts(call.input());
    if (survivors.rank_of(number) != r) {
        co_yield exchange(send(call.input(), r - 1));
        co_yield exchange(receive(call.output(), mirror));
        co_return;
    }
    const Block partial = call.scratch();
    const Parts sums = call.parts(partial), arrivals = call.parts(call.scratch());
    Parts summands = inputs;
    if (number < survivors.extra) {
        const Block theirs = arrivals.range(0, p);
        co_yield exchange(receive(theirs, r + 1));
        co_yield combine(call.input(), theirs).into(partial);
        summands = sums;
    }

    Rank first = 0, last = survivors.size;  // whose parts this rank still has sums of
    for (Rank distance = 1; distance < survivors.size; distance *= 2) {
        const Rank other = number ^ distance, partner = survivors.rank_of(other), middle = first + (last - first) / 2;
        const Rank begin = survivors.rank_of(first), mid = survivors.rank_of(middle), end = survivors.rank_of(last);
        const bool lower = number < other;
        (lower ? last : first) = middle;
        const Rank mine = lower ? begin : mid, mine_end = lower ? mid : end;
        const Block leaving = lower ? summands.range(mid, end) : summands.range(begin, mid);
        const Block arrived = arrivals.range(mine, mine_end), own = summands.range(mine, mine_end);
        co_yield exchange(send(leaving, partner), receive(arrived, partner));
        const Block left = lower ? own : arrived, right = lower ? arrived : own;
        co_yield combine(left, right).into(sums.range(mine, mine_end));
        summands = sums;
    }

    if (reversed == number) co_yield copy(summands[r]).into(call.output());
    else co_yield exchange(send(summands[mirror], mirror), receive(call.output(), mirror));
    if (reversed < survivors.extra) co_yield exchange(send(summands[mirror + 1], mirror + 1));
}

const AlgorithmInfo butterfly_info = {
    .collective = "reduce_scatter",
    .name = "butterfly",
    .summary = "halving between neighbours: about log2 p rounds, in rank order",
    .citation = "rabenseifner2004more",
    .tolerates_in_place = true,
    .schedule = butterfly,
};

}  // namespace rondo::reduce_scatter
