// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "rondo/core/block.hpp"

namespace rondo {

/// The shortest exact text for a whole number that people write: "64Ki", "100".
std::string quantity_text(Count value);

}  // namespace rondo
