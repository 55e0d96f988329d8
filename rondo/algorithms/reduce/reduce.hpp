// SPDX-License-Identifier: BSD-3-Clause
// Reduction: the root gets V_0 (+) ... (+) V_{p-1}, operands in rank order unless the operator commutes. On the other
// ranks the output does not exist: no step there may touch it. Only the root can be in place.
#pragma once

#include <algorithm>
#include <vector>

#include "rondo/algorithms/list.hpp"
#include "rondo/algorithms/patterns/circulant_steps.hpp"
#include "rondo/algorithms/patterns/halving.hpp"

namespace rondo::reduce {

inline constexpr std::string_view summary = "the root gets the reduction of the inputs of all ranks";

#define RONDO_REDUCE_ALGORITHMS(ALGORITHM) \
    ALGORITHM(binary_blocks)               \
    ALGORITHM(bine_butterfly)              \
    ALGORITHM(bine_tree)                   \
    ALGORITHM(binomial)                    \
    ALGORITHM(butterfly)                   \
    ALGORITHM(circulant)                   \
    ALGORITHM(full_lane)                   \
    ALGORITHM(halving_doubling)            \
    ALGORITHM(hubs)                        \
    ALGORITHM(leaders)                     \
    ALGORITHM(linear_pipeline)             \
    ALGORITHM(pipelined_binary_tree)       \
    ALGORITHM(ring)                        \
    ALGORITHM(two_tree)

RONDO_REDUCE_ALGORITHMS(RONDO_DECLARE_ALGORITHM)

inline constexpr const AlgorithmInfo* algorithms[] = {RONDO_REDUCE_ALGORITHMS(RONDO_ALGORITHM_ADDRESS)};

/// A reduce-scatter by halving and a gather; see halving_doubling.cpp.
Schedule halve_and_gather(const Call& call, HalvingOf halving_of);

/// What a rank has of the blocks of a circulant graph reduction while they travel: `kept` at a time, by number.
class CirculantSums {
  public:
    /// Blocks of up to `largest` elements arrive, at most one in a round.
    CirculantSums(const Call& call, Count kept, Count largest, Count rounds)
        : partial_(static_cast<std::size_t>(kept)), whole_(static_cast<std::size_t>(kept)), largest_(largest),
          slots_(std::min(most_slots, rounds)), arrivals_(call.scratch(slots_ * largest)) {}

    /// Before a block travels: what this rank adds to it, and where the sum goes.
    void begin(Count block, const Block& summand, const Block& sum) {
        partial(block) = summand;
        whole_[index(block)] = sum;
    }
    /// The sum so far.
    [[nodiscard]] Block& partial(Count block) { return partial_[index(block)]; }
    [[nodiscard]] const Block& sum(Count block) const { return whole_[index(block)]; }
    /// Room for what comes next, as long as the block.
    [[nodiscard]] Block arrival(Count block) {
        return arrivals_.part(received_++ % slots_ * largest_, sum(block).count);
    }

  private:
    static constexpr Count most_slots = 8;
    [[nodiscard]] std::size_t index(Count block) const { return static_cast<std::size_t>(block) % whole_.size(); }

    std::vector<Block> partial_, whole_;
    Count largest_, slots_, received_ = 0;
    Block arrivals_;
};

/// One round of a circulant graph reduction, from the last to the first. For callers that do other things with each
/// block, too.
Schedule circulant_round(const Call& call, const CirculantSteps& steps, Count round, CirculantSums& sums);

}  // namespace rondo::reduce
