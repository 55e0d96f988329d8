// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph reduction: the broadcast run backwards, so that every block's partial sums meet on the way to the
// root. [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p) for every p. The operator must commute.
#include <vector>

#include "rondo/algorithms/patterns/circulant_steps.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::reduce {

namespace {

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

}  // namespace

Schedule circulant(const Call& call) {
    const Segments own = call.segments(call.input());
    const CirculantSteps steps(call, own.size());
    const Segments sums = call.segments(steps.is_root() ? call.output() : call.scratch());
    const SegmentRing ring(call, own, steps.size());

    std::vector<bool> begun(static_cast<std::size_t>(own.size()));  // the blocks with a partial sum
    const auto partial = [&](Count block) { return begun[static_cast<std::size_t>(block)] ? sums[block] : own[block]; };
    Count received = 0;
    for (Count round = steps.size() - 1; round >= 0; --round) {
        const auto [from, to, incoming, outgoing] = steps[round];  // backwards
        const Block arrival = incoming < 0 ? Block() : ring.slot(received++, own[incoming]);
        const Block departure = outgoing < 0 ? Block() : partial(outgoing);
        co_yield exchange(send(departure, to), receive(arrival, from));
        if (incoming < 0) continue;
        co_yield combine(partial(incoming), arrival).into(sums[incoming]);
        begun[static_cast<std::size_t>(incoming)] = true;
    }
    if (call.ranks().second == 1) co_yield copy(call.input()).into(call.output());
}

Schedule circulant_block(const Call& call, Count block, Count blocks) {
    const CirculantSteps steps(call, blocks);
    const Block sum = steps.is_root() ? call.output() : call.scratch();
    Block partial = call.input();
    for (Count round = steps.end_of(block) - 1; round >= block; --round) {
        const auto [from, to, incoming, outgoing] = steps[round];  // backwards
        const Block departure = outgoing == block ? partial : Block();
        const Block arrival = incoming == block ? call.scratch() : Block();
        co_yield exchange(send(departure, to), receive(arrival, from));
        if (incoming != block) continue;
        co_yield combine(partial, arrival).into(sum);
        partial = sum;
    }
    if (call.ranks().second == 1) co_yield copy(call.input()).into(call.output());
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
