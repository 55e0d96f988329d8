// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph broadcast: in every round every rank receives a block that it has not got yet, and passes one on.
// [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p) for every p, the fewest possible.
#include "rondo/topology/circulant.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo::bcast {

Schedule circulant(const Call& call) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const topology::CirculantSkips skips(p);
    const topology::CirculantSchedule schedule(place, skips);
    const Segments blocks = call.segments(call.output());
    const topology::CirculantRounds rounds(skips.rounds(), blocks.size());

    for (Count round = 0; round < rounds.size(); ++round) {
        const int k = rounds.skip_of(round);
        const Rank to = skips.up(place, k), from = skips.down(place, k);
        // The root has every block already.
        const Block outgoing = to == 0 ? Block() : blocks.at(rounds.block(round, schedule.sends(k)));
        const Block incoming = place == 0 ? Block() : blocks.at(rounds.block(round, schedule.receives(k)));
        co_yield exchange(send(outgoing, circle.rank_at(to)), receive(incoming, circle.rank_at(from)));
    }
}

Schedule circulant_block(const Call& call, Count block, Count blocks) {
    const auto [r, p] = call.ranks();
    const topology::Rotation circle(call.facts().root, 0, p);
    const Rank place = circle.place_of(r);
    const topology::CirculantSkips skips(p);
    const topology::CirculantSchedule schedule(place, skips);
    const topology::CirculantRounds rounds(skips.rounds(), blocks);

    // The root sends it in the round of the same number; others get it up to so many rounds later.
    const Count end = std::min(rounds.size(), block + 2 * Count{skips.rounds()});
    for (Count round = block; round < end; ++round) {
        const int k = rounds.skip_of(round);
        const Rank to = skips.up(place, k), from = skips.down(place, k);
        const bool sends = to != 0 && rounds.block(round, schedule.sends(k)) == block;
        const bool receives = place != 0 && rounds.block(round, schedule.receives(k)) == block;
        const Block outgoing = sends ? call.output() : Block(), incoming = receives ? call.output() : Block();
        co_yield exchange(send(outgoing, circle.rank_at(to)), receive(incoming, circle.rank_at(from)));
    }
}

const AlgorithmInfo circulant_info = {
    .collective = "bcast",
    .name = "circulant",
    .summary = "a new block for every rank in every round: blocks-1+ceil(log2 p) rounds, the fewest possible",
    .citation = "traff2024optimal",
    .parameters = {&segment_parameter, 1},
    .requirements = {&segment_requirement, 1},
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::bcast
