// SPDX-License-Identifier: BSD-3-Clause
// The process asks the model once for a class of lengths, and remembers what it says.
#pragma once

#include <vector>

#include "rondo/selection/machine.hpp"
#include "rondo/selection/proposal.hpp"
#include "rondo/selection/rules.hpp"

namespace rondo::interposer {

/// Returns what `closed_for_class` does.
std::vector<Setting> remembered_settings(const Choice& choice, const SharedFacts& usual, const Machine& machine);

/// The choice to which a rule comes that leaves it to the model.
struct ModelChoice {
    const Choice* choice;  ///< never freed; one for each rule and proposal; nullptr: nothing is proposed
    Interval bytes;        ///< lengths for which it is the same
};
/// `rule`: the choice that names the model. `facts` have the placement. Throws std::bad_alloc.
ModelChoice remembered_proposal(const Choice& rule, const Collective& collective, const SharedFacts& facts,
                                const Machine& machine);

}  // namespace rondo::interposer
