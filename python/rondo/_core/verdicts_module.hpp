// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core what trials of earlier runs have shown.
void bind_verdicts(nanobind::module_& module);

}  // namespace rondo
