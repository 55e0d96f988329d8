// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph reduction: the broadcast run backwards, so that every block's partial sums meet on the way to the
// root. [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p) for every p. The operator must commute.
#include <vector>

#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/circulant.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::reduce {

namespace {

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

}  // namespace

Schedule circulant(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const topology::CirculantSkips skips(p);
    const topology::CirculantSchedule schedule(place, skips);
    const Segments own = call.segments(call.input());
    const Segments sums = call.segments(place == 0 ? call.output() : call.scratch());
    const topology::CirculantRounds rounds(skips.rounds(), own.size());
    const SegmentRing ring(call, own, rounds.size());

    std::vector<bool> begun(static_cast<std::size_t>(own.size()));  // the blocks with a partial sum
    const auto partial = [&](Count block) { return begun[static_cast<std::size_t>(block)] ? sums[block] : own[block]; };
    Count received = 0;
    for (Count round = rounds.size() - 1; round >= 0; --round) {
        const int k = rounds.skip_of(round);
        const Rank from = skips.up(place, k), to = skips.down(place, k);
        const Count outgoing = place == 0 ? -1 : rounds.block(round, schedule.receives(k));
        const Count incoming = from == 0 ? -1 : rounds.block(round, schedule.sends(k));
        const Block arrival = incoming < 0 ? Block() : ring.slot(received++, own[incoming]);
        const Block departure = outgoing < 0 ? Block() : partial(outgoing);
        co_yield exchange(send(departure, circle.rank_at(to)), receive(arrival, circle.rank_at(from)));
        if (incoming < 0) continue;
        co_yield combine(partial(incoming), arrival).into(sums[incoming]);
        begun[static_cast<std::size_t>(incoming)] = true;
    }
    if (p == 1) co_yield copy(call.input()).into(call.output());
}

Schedule circulant_block(const Call& call, Count block, Count blocks) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const topology::CirculantSkips skips(p);
    const topology::CirculantSchedule schedule(place, skips);
    const topology::CirculantRounds rounds(skips.rounds(), blocks);

    const Block sum = place == 0 ? call.output() : call.scratch();
    Block partial = call.input();
    const Count end = std::min(rounds.size(), block + 2 * Count{skips.rounds()});  // as in the broadcast
    for (Count round = end - 1; round >= block; --round) {
        const int k = rounds.skip_of(round);
        const Rank from = skips.up(place, k), to = skips.down(place, k);
        const bool sends = place != 0 && rounds.block(round, schedule.receives(k)) == block;
        const bool receives = from != 0 && rounds.block(round, schedule.sends(k)) == block;
        const Block departure = sends ? partial : Block(), arrival = receives ? call.scratch() : Block();
        co_yield exchange(send(departure, circle.rank_at(to)), receive(arrival, circle.rank_at(from)));
        if (!receives) continue;
        co_yield combine(partial, arrival).into(sum);
        partial = sum;
    }
    if (p == 1) co_yield copy(call.input()).into(call.output());
}

const AlgorithmInfo circulant_info = {
    .collective = "reduce",
    .name = "circulant",
    .summary = "a partial sum from every rank in every round: blocks-1+ceil(log2 p) rounds, commutative operators",
    .citation = "traff2024optimal",
    .parameters = {&segment_parameter, 1},
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::reduce
