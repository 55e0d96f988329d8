// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "rondo/selection/verdicts.hpp"

namespace rondo {

/// Reads a file of verdicts, which may not be there yet, with malformed lines left out, lets `change` change it, and
/// writes it: whole or not at all. Processes that do so at once take turns, and wait a second at most. Empty if that
/// worked; else why not, and the file is as it was. Throws std::bad_alloc, and what `change` throws.
std::string update_verdicts(const std::string& path, const std::function<void(Verdicts&)>& change);

}  // namespace rondo
