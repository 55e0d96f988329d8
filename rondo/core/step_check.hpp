// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/core/call.hpp"
#include "rondo/core/step.hpp"

namespace rondo {

/// Throws Error if a step contradicts the contract of step.hpp as far as the step alone can tell: blocks outside the
/// buffers of the call, unequal counts, a target that overlaps an operand in part, a write to the input.
/// That transfers of one exchange do not overlap is for the reader of the schedule to see.
void check(const Step& step, const Call& call);

}  // namespace rondo
