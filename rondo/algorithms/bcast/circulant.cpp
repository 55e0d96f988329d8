// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph broadcast: in every round every rank receives a block that it has not got yet, and passes one on.
// [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p) for every p, the fewest possible.
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/patterns/circulant_steps.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::bcast {

Schedule circulant(const Call& call) {
    const Segments blocks = call.segments(call.output());
    const CirculantSteps steps(call, blocks.size());
    for (Count round = 0; round < steps.size(); ++round) {
        const CirculantSteps::Step step = steps[round];
        co_yield exchange(send(blocks.at(step.sent), step.to), receive(blocks.at(step.received), step.from));
    }
}

Schedule circulant_block(const Call& call, Count block, Count blocks) {
    const CirculantSteps steps(call, blocks);
    for (Count round = block; round < steps.end_of(block); ++round) {
        const CirculantSteps::Step step = steps[round];
        const Block outgoing = step.sent == block ? call.output() : Block();
        const Block incoming = step.received == block ? call.output() : Block();
        co_yield exchange(send(outgoing, step.to), receive(incoming, step.from));
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
