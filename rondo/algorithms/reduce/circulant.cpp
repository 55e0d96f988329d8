// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph reduction: the broadcast run backwards, so that every block's partial sums meet on the way to the
// root. [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p) for every p. The operator must commute.
#include "rondo/algorithms/patterns/circulant_steps.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::reduce {

namespace {

constexpr Requirement requirements[] = {commutative_requirement, segment_requirement};

}  // namespace

Schedule circulant_round(const Call& /*call*/, const CirculantSteps& steps, Count round, CirculantSums& sums) {
    const auto [from, to, incoming, outgoing] = steps[round];  // backwards
    const Block departure = outgoing < 0 ? Block() : sums.partial(outgoing);
    const Block arrival = incoming < 0 ? Block() : sums.arrival(incoming);
    co_yield exchange(send(departure, to), receive(arrival, from));
    if (incoming < 0) co_return;
    co_yield combine(sums.partial(incoming), arrival).into(sums.sum(incoming));
    sums.partial(incoming) = sums.sum(incoming);
}

Schedule circulant(const Call& call) {
    const Segments own = call.segments(call.input());
    const CirculantSteps steps(call, own.size());
    const Segments results = call.segments(steps.is_root() ? call.output() : call.scratch());
    CirculantSums sums(call, own.size(), own.largest(), steps.size());
    for (Count block = 0; block < own.size(); ++block) sums.begin(block, own[block], results[block]);
    for (Count round = steps.size() - 1; round >= 0; --round) {
        Schedule one = circulant_round(call, steps, round, sums);
        co_yield steps_of(one);
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
