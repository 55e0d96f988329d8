// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core what happens when all ranks run in virtual time.
void bind_trace(nanobind::module_& module);

}  // namespace rondo
