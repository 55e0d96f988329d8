// SPDX-License-Identifier: BSD-3-Clause
// Whole numbers as people write them: 65536, 64Ki, 1M.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rondo/core/block.hpp"
#include "rondo/core/quantity_text.hpp"

namespace rondo {

/// Digits and at most one suffix: Ki, Mi, Gi (powers of 1024), k, M, G (powers of 1000). Nothing if the text is
/// anything else, or if the number is not below 2^63.
std::optional<Count> parse_quantity(std::string_view text);

/// What to write instead of a text that `parse_quantity` does not take, for messages: "expected a whole number, ...".
std::string expected_quantity(std::string_view text);

}  // namespace rondo
