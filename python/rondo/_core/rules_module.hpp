// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core what rules files say, and why.
void bind_rules(nanobind::module_& module);

}  // namespace rondo
