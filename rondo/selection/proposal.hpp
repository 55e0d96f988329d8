// SPDX-License-Identifier: BSD-3-Clause
// What the model proposes for a call that nobody has measured.
#pragma once

#include <optional>

#include "rondo/selection/choice.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/rules.hpp"

namespace rondo {

struct Proposal {
    Choice choice;   ///< segments are left open
    double seconds;  ///< in virtual time, about; a little more where ranks share nodes and the algorithm ignores it
};

/// The algorithm of the collective that takes the least time in virtual time for such calls on this machine. Nothing
/// where none serves them, or none can be timed. `facts` have the placement; parts are taken for even. A pure function
/// of its arguments. It takes about as many milliseconds as there are algorithms: pipelines are timed roughly, with the
/// usual segment, and the best of all once more, with the segments that they will have.
std::optional<Proposal> proposed(const Collective& collective, const SharedFacts& facts, const Machine& machine);

/// Lengths for which the same is proposed: those of a length_class.
Interval lengths_like(Count bytes);
/// The call of these lengths that is proposed for: of a length in the middle, with root 0.
SharedFacts typical_call(const Collective& collective, const SharedFacts& facts);

}  // namespace rondo
