// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds to rondo._core how a distributed array should lie.
void bind_distribution(nanobind::module_& module);

}  // namespace rondo
