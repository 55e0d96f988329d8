// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include "rondo/algorithms/registry.hpp"

namespace rondo {

/// The facts of a call that users describe. Throws Error if it makes no sense. The count is of the whole vector.
SharedFacts checked_facts(const Collective& collective, Count processes, Count count, Count element_bytes, Count root,
                          bool commutative);

/// Adds to rondo._core what happens when all ranks run in virtual time.
void bind_trace(nanobind::module_& module);

}  // namespace rondo
