// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph reduce-scatter: the parts that a rank still has partial sums of about halve in every round, until its
// own is left. Rounds: ceil(log2 p) for every p, the fewest possible; every part but the own is sent once, p - 1 parts
// are received and combined. [traff2024nonpipelined]
#include "rondo/topology/circulant.hpp"
#include "rondo/algorithms/patterns/rotated_parts.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce_scatter {

/// The sums lie in scratch in the order of the circle, so that every round sends one message. The first round sends
/// from the input and combines it into what has arrived: only parts sent there that go past the end of the vector are
/// copied.
Schedule circulant(const Call& call) {
    const auto [r, p] = call.ranks();
    const RotatedParts parts(call.parts(call.input()), r);
    const Block own = parts.block(0, 1);
    if (p == 1) co_yield copy(own).into(call.output());
    if (p == 1) co_return;

    const topology::CirculantSkips circle(p);
    int round = circle.rounds() - 1;
    const Rank kept = circle.skip(round);  // parts
    const bool wrap = parts.wrap(kept, p);
    const Block outgoing = wrap ? call.scratch(parts.count(kept, p)) : parts.block(kept, p);
    if (wrap) {
        const auto [front, back] = parts.pieces(kept, p);
        co_yield copy(front).into(outgoing.part(0, front.count));
        co_yield copy(back).into(outgoing.part(front.count, back.count));
    }
    const Block sums = call.scratch(parts.count(0, kept));
    const Block first_arrival = parts.on_line(sums, 0, p - kept);
    co_yield exchange(send(outgoing, circle.up(r, round)), receive(first_arrival, circle.down(r, round)));

    // What nothing has arrived for, if p is odd.
    co_yield copy(parts.block(p - kept, kept)).into(parts.on_line(sums, p - kept, kept));
    if (round > 0 || !can_become(own, call.output())) {
        const auto [front, back] = parts.pieces(0, p - kept);
        const Block front_sums = sums.part(0, front.count), back_sums = sums.part(front.count, back.count);
        co_yield combine(front, front_sums).into(front_sums);
        co_yield combine(back, back_sums).into(back_sums);
        if (round == 0) co_yield copy(sums).into(call.output());
    } else {
        co_yield combine(own, sums).into(call.output());
    }

    while (--round >= 0) {
        const Rank skip = circle.skip(round), span = circle.skip(round + 1) - skip;
        const Block leaving = parts.on_line(sums, skip, skip + span), mine = parts.on_line(sums, 0, span);
        const Block arrival = call.scratch(mine.count);
        co_yield exchange(send(leaving, circle.up(r, round)), receive(arrival, circle.down(r, round)));
        const Block into = round == 0 ? call.output() : mine;
        co_yield combine(arrival, mine).into(into);
    }
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo circulant_info = {
    .collective = "reduce_scatter",
    .name = "circulant",
    .summary = "the parts about halve in every round: ceil(log2 p) rounds for every p, commutative operators",
    .citation = "traff2024nonpipelined",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::reduce_scatter
