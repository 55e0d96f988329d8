// SPDX-License-Identifier: BSD-3-Clause
// How a distributed array should lie so that its prefix sum ends earliest. Each rank reduces its own elements (the
// first pass), an exclusive scan brings it the total of those before it, and with that it makes its results (the second
// pass). docs/explanation/distributions.md has the theory.
#pragma once

#include <span>
#include <vector>

#include "rondo/backends/virtual/timing.hpp"

namespace rondo {

/// Seconds per element.
struct Passes {
    double first, second;

    [[nodiscard]] constexpr double both() const { return first + second; }
};

/// What one rank does in a prefix sum, in seconds from the start.
struct PrefixTimes {
    double ready;   ///< the first pass is over: the rank comes to the scan
    double prefix;  ///< its part in the scan is over: it has its prefix
    double end;     ///< the second pass is over
    Rank due_to;    ///< whose first pass it was that the prefix came no earlier
};

/// When the last element is done; ranks without elements do not count.
double end_of(std::span<const PrefixTimes> times, std::span<const Count> counts);

/// Prefix sums of one array after the other, on the same ranks and machine with the same scan.
class PrefixSum {
  public:
    /// `facts` is the call of the exclusive scan. Throws Error if the algorithm refuses it, for negative passes or both
    /// 0, and beyond Timing::most_messages.
    PrefixSum(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
              const virtual_machine::CostModel& costs, const Passes& passes);

    /// Of every rank, in virtual time. Throws Error unless there is a count from 0 on for each rank.
    std::vector<PrefixTimes> times(std::span<const Count> counts);

    struct Best {
        std::vector<Count> counts;
        double seconds;
        /// About the least time that any distribution over the same ranks can have: that of the model by which this one
        /// was found. Exact where ranks never wait for processors and wires (overhead and beta 0). Of more than 128
        /// ranks: that distributions near this one can have.
        double bound;
    };
    /// The distribution of so many elements that ends earliest, to within a hundredth of what ranks wait where it is
    /// even. Of more than 128 ranks: the best that was found near the even one and near tents.
    Best best(Count elements);

  private:
    friend class DistributionSearch;

    virtual_machine::Timing timing_;
    Rank ranks_;
    virtual_machine::CostModel costs_;
    Count element_bytes_;
    Passes passes_;
};

/// Counts of each rank whose sums up to every rank are the nearest to those of `shares`, which add up to `elements`.
std::vector<Count> rounded(std::span<const double> shares, Count elements);

/// As many elements on every rank, but for one.
std::vector<Count> even(Count elements, Rank ranks);

/// So many more on each rank than on the one before. Of [carver_ladder], with its cap: ranks that would begin with
/// less than a step get nothing.
std::vector<Count> ladder(Count elements, Rank ranks, double step);

/// Rising to a peak and falling again: the best where the scan is a chain, of so many seconds from rank to rank. Ranks
/// beyond the number from which on more would only lengthen the chain get nothing.
std::vector<Count> tent(Count elements, Rank ranks, const Passes& passes, double hop);

/// Seconds that one rank more adds to a chain of single elements.
double hop_of_chain(const virtual_machine::CostModel& costs, Count element_bytes);

}  // namespace rondo
