// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>

namespace rondo::mpi {

/// Prints one line on standard error.
inline void warn(const char* text) { std::fprintf(stderr, "rondo: %s\n", text); }

}  // namespace rondo::mpi
