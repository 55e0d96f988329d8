// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace rondo {

/// Adds what concerns machines to rondo._core.
void bind_machine(nanobind::module_& module);

}  // namespace rondo
