// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core what Rondo can be told in a process, and what holds in one.
void bind_settings(nanobind::module_& module);

}  // namespace rondo
