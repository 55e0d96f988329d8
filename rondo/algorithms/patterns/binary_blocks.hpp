// SPDX-License-Identifier: BSD-3-Clause
// Ranks in blocks whose sizes are the powers of two that p is the sum of, the largest first.
// [rabenseifner2004collective], section 3.6.
#pragma once

#include <bit>
#include <cstdint>

#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo {

/// `size` ranks from `first` on; none, if there is no such block.
struct BinaryBlock {
    Rank first, size;

    /// The block that begins with a rank, where one does.
    static constexpr BinaryBlock from(Rank first, Rank ranks) {
        return {first, static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks - first)))};
    }
    /// The block that a rank is in.
    static constexpr BinaryBlock of(Rank rank, Rank ranks) {
        BinaryBlock block = from(0, ranks);
        while (rank >= block.first + block.size) block = block.smaller(ranks);
        return block;
    }
    [[nodiscard]] constexpr BinaryBlock smaller(Rank ranks) const { return from(first + size, ranks); }
    /// Its size is the lowest of the powers that add up to `first`.
    [[nodiscard]] constexpr BinaryBlock larger() const { return {first - (first & -first), first & -first}; }
};

/// The halving of a block.
[[nodiscard]] inline Halving halving_of(const BinaryBlock& block, Rank rank, Count count, Rank root = 0) {
    return Halving::nearest_first(block.first, block.size, rank, count, root);
}

/// Reduce-scatter: in every block, then from each block into the next larger one. `halving` is that of the rank's
/// block; in the largest one, its part of the sum of all ranks lands there in `work`, a place for a vector.
Schedule reduce_into_largest(const Call& call, const Halving& halving, Block work);

/// Allgather: from everyone's part of its `vector` in the largest block to the whole of it on all ranks.
Schedule spread_from_largest(const Call& call, const Halving& halving, Block vector);

}  // namespace rondo
