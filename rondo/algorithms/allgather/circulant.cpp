// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph allgather: the parts that a rank has, its own and those of the ranks behind it, about double in every
// round. Rounds: ceil(log2 p) for every p, the fewest possible; each part is received once. [traff2024nonpipelined]
#include <vector>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/patterns/rotated_parts.hpp"
#include "rondo/topology/circulant.hpp"

namespace rondo::allgather {

/// One message in every round. Ranges of parts that go past the end of the vector lie in scratch, in one piece: of the
/// parts that come before the last round and those that come in it, at most one range does. So not much more than half
/// of the vector is copied; of the first kind, while the last message is on its way.
Schedule along_skips(const Call& call, std::span<const Rank> skips) {
    const auto [r, p] = call.ranks();
    const RotatedParts parts(call.parts(call.output()), r);
    if (p == 1) co_yield copy(call.input()).into(call.output());
    if (p == 1) co_return;

    const std::size_t last = skips.size() - 2;  // round
    const Rank early = skips[last];             // parts
    const bool early_wrap = parts.wrap(0, early), late_wrap = parts.wrap(early, p);
    const Block line = early_wrap ? call.scratch(parts.count(0, early)) : parts.block(0, early);
    const Block late = late_wrap ? call.scratch(parts.count(early, p)) : parts.block(early, p);

    co_yield copy(call.input()).into(parts.on_line(line, 0, 1));
    for (std::size_t round = 0; round <= last; ++round) {
        const Rank skip = skips[round], span = skips[round + 1] - skip;
        const Block outgoing = span == 1 ? call.input() : parts.on_line(line, 0, span);
        const Block incoming = round == last ? late : parts.on_line(line, skip, skip + span);
        co_yield exchange(send(outgoing, (r - skip + p) % p), receive(incoming, (r + skip) % p));
    }
    if (!early_wrap && !late_wrap) co_return;
    const Block rotated = early_wrap ? line : late;
    const auto [front, back] = early_wrap ? parts.pieces(0, early) : parts.pieces(early, p);
    co_yield copy(rotated.part(0, front.count)).into(front);
    co_yield copy(rotated.part(front.count, back.count)).into(back);
}

Schedule circulant(const Call& call) {
    const topology::CirculantSkips circle(call.ranks().second);
    std::vector<Rank> skips;
    for (int round = 0; round <= circle.rounds(); ++round) skips.push_back(circle.skip(round));
    Schedule rounds = along_skips(call, skips);
    co_yield steps_of(rounds);
}

const AlgorithmInfo circulant_info = {
    .collective = "allgather",
    .name = "circulant",
    .summary = "the parts about double in every round: ceil(log2 p) rounds for every p",
    .citation = "traff2024nonpipelined",
    .tolerates_in_place = true,
    .schedule = circulant,
};

}  // namespace rondo::allgather
