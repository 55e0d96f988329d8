// SPDX-License-Identifier: BSD-3-Clause
// Binary blocks: in blocks of powers of two of ranks, a reduce-scatter by vector halving and distance doubling; from
// the smallest block on, the parts are added to those of the next larger one; then an allgather the same way back. In
// rank order. [rabenseifner2004collective], section 3.6. Long vectors on numbers of ranks whose successive powers of
// two do not differ by much: little more than halving and doubling costs on a power of two. Rounds: a block of 2^i
// ranks sends 2^(k-i) messages to one of 2^k. Operations: at most m.
#include "rondo/algorithms/patterns/binary_blocks.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"

namespace rondo::allreduce {

Schedule binary_blocks(const Call& call) {
    const auto [r, p] = call.ranks();
    const Halving halving = halving_of(BinaryBlock::of(r, p), r, call.count());
    Schedule reduce_scatter = reduce_into_largest(call, halving, call.output());
    co_yield steps_of(reduce_scatter);
    Schedule allgather = spread_from_largest(call, halving, call.output());
    co_yield steps_of(allgather);
}

const AlgorithmInfo binary_blocks_info = {
    .collective = "allreduce",
    .name = "binary_blocks",
    .summary = "halving and doubling in blocks of powers of two: for long vectors, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = binary_blocks,
};

}  // namespace rondo::allreduce
