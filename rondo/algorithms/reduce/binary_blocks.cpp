// SPDX-License-Identifier: BSD-3-Clause
// Binary blocks: in blocks of powers of two of ranks, a reduce-scatter by vector halving and distance doubling; from
// the smallest block on, the parts are added to those of the next larger one; the root gathers those of the largest
// along a binomial tree. A root outside the largest block plays the role of rank 0 in the gather. In rank order.
// [rabenseifner2004collective], section 3.6. Long vectors on numbers of ranks whose successive powers of two do not
// differ by much. Operations: at most m.
#include "rondo/algorithms/patterns/binary_blocks.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"

namespace rondo::reduce {

Schedule binary_blocks(const Call& call) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const BinaryBlock largest = BinaryBlock::from(0, p);
    const Block work = r == root ? call.output() : call.scratch();
    const Halving halving = halving_of(BinaryBlock::of(r, p), r, call.count());
    Schedule reduce_scatter = reduce_into_largest(call, halving, work);
    co_yield steps_of(reduce_scatter);

    const bool is_inside = root < largest.size;
    const Rank top = is_inside ? root : 0;
    if (r >= largest.size && r != root) co_return;
    Halving gathering = halving_of(largest, r < largest.size ? r : top, call.count(), top);
    if (!is_inside) {
        const Block part = within(work, gathering.part());
        if (r == root) co_yield exchange(receive(part, top));
        if (r == top) {
            co_yield exchange(send(part, root));
            co_return;
        }
        gathering.replace(top, root);
    }
    Schedule to_root = collect(call, gathering, work);
    co_yield steps_of(to_root);
}

const AlgorithmInfo binary_blocks_info = {
    .collective = "reduce",
    .name = "binary_blocks",
    .summary = "halving in blocks of powers of two, then a gather: for long vectors, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = binary_blocks,
};

}  // namespace rondo::reduce
