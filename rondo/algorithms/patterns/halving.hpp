// SPDX-License-Identifier: BSD-3-Clause
// Recursive vector halving and doubling among a power of two of ranks. In a round of halving, a rank keeps one half of
// what it has and gives the other to its partner, so that in the end everyone has the sum of one part of the vector;
// doubling goes the same way back. [rabenseifner2004collective], section 3.2.
#pragma once

#include <array>
#include <span>

#include "rondo/algorithms/patterns/fold.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

/// The rounds of halving, seen from one rank. `number` is its number among those that take part.
class Halving {
  public:
    struct Round {
        Rank bit;           ///< the lowest in which the numbers of the two partners differ
        Rank partner;       ///< a rank of the call
        Block kept, given;  ///< ranges of the vector: their `first` counts from its beginning
    };

    /// From the nearest partner to the farthest. Whatever a rank keeps is a sum of consecutive ranks; which part it
    /// keeps in the end does not follow the order of the ranks.
    static Halving nearest_first(const Fold& fold, Rank rank, Count count);
    /// From the nearest partner to the farthest, in a Bine butterfly: see topology/bine.hpp. The sums go past the last
    /// number, on from the first: for operators that commute.
    static Halving bine(const Fold& fold, Rank rank, Count count);
    /// The same as `nearest_first` among `size` consecutive ranks from `first` on; the root counts from there.
    static Halving nearest_first(Rank first, Rank size, Rank rank, Count count, Rank root = 0);
    /// From the farthest partner to the nearest, on the parts of the ranks, those of a pair as one: everyone keeps its
    /// own. The sums skip ranks: for operators that commute.
    static Halving farthest_first(const Fold& fold, Rank rank, const Parts& parts);

    /// Another rank plays the role of a partner.
    void replace(Rank partner, Rank by);

    [[nodiscard]] std::span<const Round> rounds() const { return std::span(rounds_).first(size_); }
    [[nodiscard]] bool precedes(const Round& round) const { return (number_ & round.bit) == 0; }
    /// Which of the parts this rank has the sum of in the end; in most orders, its number in the fold.
    [[nodiscard]] Rank number() const { return number_; }
    /// From the nearest partner on: the round in which a scatter from the fold's root gets here; nullptr at the root.
    [[nodiscard]] const Round* arrival() const { return reached_ == 0 ? nullptr : &rounds_.at(reached_ - 1); }
    /// And those after it, in which it goes on from here.
    [[nodiscard]] std::span<const Round> departures() const { return rounds().subspan(reached_); }
    /// What this rank has the sum of in the end.
    [[nodiscard]] const Block& part() const { return part_; }

  private:
    Halving(Rank number, Block part) : number_(number), part_(part) {}
    /// `number`: whose bits say which halves this rank keeps.
    template <class PartnerOf>
    static Halving from_nearest(const Fold& fold, Rank number, Count count, PartnerOf partner_of);
    void add(const Round& round);

    std::array<Round, 31> rounds_;
    std::size_t size_ = 0;
    Rank number_;
    std::size_t reached_ = 0;  // after so many rounds
    Block part_;
};

/// One of the ways to halve a vector of so many elements.
using HalvingOf = Halving (*)(const Fold& fold, Rank rank, Count count);

/// The elements of a vector that a range is about.
[[nodiscard]] constexpr Block within(Block vector, Block range) { return vector.part(range.first, range.count); }

/// Reduce-scatter: `halving.part()` of the sum of all `partial` lands in `result`. Sums stand in `work` on the way, as
/// long as the vector, which may be `partial`; `result` may be its part of `work`. Operands are in the order of the
/// numbers. The halving must outlive the schedule.
Schedule halve(const Call& call, const Halving& halving, Block partial, Block work, Block result);

/// Allgather: from everyone's part of its `vector` to the whole of it. Nobody sends to the rank `full`, which has it.
Schedule regather(const Call& call, const Halving& halving, Block vector, Rank full = no_rank);

/// Gather, from the nearest partner on: from everyone's part of its `vector` to the whole of that of the fold's root.
Schedule collect(const Call& call, const Halving& halving, Block vector);

/// Scatter: the way back of `collect`.
Schedule spread(const Call& call, const Halving& halving, Block vector);

/// The first step of [rabenseifner2004collective], section 3.5: both ranks of a pair reduce one half of the vector, and
/// the sum of the pair stands in the `work` of the one that stays. For the ranks that are paired.
Schedule eliminate(const Call& call, const Fold& fold, Block work);

}  // namespace rondo
