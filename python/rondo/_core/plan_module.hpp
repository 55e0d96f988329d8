// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core the plans of calls, and schedules that somebody else has written down.
void bind_plans(nanobind::module_& module);

}  // namespace rondo
