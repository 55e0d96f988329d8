// SPDX-License-Identifier: BSD-3-Clause
// Allgathers in which every rank has a run of consecutive parts around the circle, which a run beside it joins in every
// round; and reduce-scatters the same way back. One message in every round. A run that goes past the end of the vector
// lies in scratch, in one piece: of the parts that come before the last round and those that come in it, at most one
// run does. So not much more than half of the vector is copied.
#pragma once

#include <span>
#include <vector>

#include "rondo/algorithms/patterns/rotated_parts.hpp"
#include "rondo/core/call.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

/// Numbers of parts from `first` up to, without, `last`.
struct Run {
    Rank first, last;
};

/// A round of an allgather.
struct RunRound {
    Rank to, from;
    Run sent, received;
};

/// What one rank does. Number 0 is the first of the parts that it has before the last round, in which it receives those
/// behind them, around the circle, to the end. In the first round it sends its own part.
struct GrowingRuns {
    RotatedParts parts;
    std::vector<RunRound> rounds;  ///< at least one

    /// The own part is number 0. Round k brings the parts of the ranks from `skips[k]` up to, without, `skips[k + 1]`
    /// behind this one. The skips go from 1 to the number of ranks; none is more than twice the one before.
    static GrowingRuns along_skips(const Parts& parts, Rank rank, std::span<const Rank> skips);
    /// In a Bine butterfly of those who stay, an even number: see topology/bine.hpp. Without a part that comes twice.
    static GrowingRuns bine(const Parts& parts, const Fold& fold, Rank rank);

    [[nodiscard]] Run early() const { return {0, late().first}; }
    [[nodiscard]] Run late() const { return rounds.back().received; }
    [[nodiscard]] Block own() const { return parts.block(rounds.front().sent.first, rounds.front().sent.last); }
};

/// Allgather: the parts are those of the result, `own` is what this rank gives.
Schedule grow(const Call& call, const GrowingRuns& runs, Block own);

/// Reduce-scatter: the parts are those of the input, `result` is what this rank gets. For operators that commute. The
/// result may overlap the input.
Schedule shrink(const Call& call, const GrowingRuns& runs, Block result);

}  // namespace rondo
