// SPDX-License-Identifier: BSD-3-Clause
// Up to which length an MPI library sends a message at once. It asks the receiver of longer ones first, and waits for
// the answer: a round trip and more.
#pragma once

#include <string_view>

#include "rondo/core/block.hpp"
#include "rondo/selection/rules.hpp"

namespace rondo {

/// In bytes, by the first line of MPI_Get_library_version, with single blanks and no colons. Powers of two: lengths at
/// which it was measured, so that there is room for what the library puts in front. Libraries that nobody has measured
/// get the shortest of all. `eager` in a machine file stands above it, because much depends on the network.
Count eager_limit_of(std::string_view version);

/// The beginning of the version of a library that is meant where only its name is said: the newest that was measured.
/// Empty for others.
std::string_view usual_version_of(MpiLibrary library);

}  // namespace rondo
