// SPDX-License-Identifier: BSD-3-Clause
// What somebody may have meant: near names for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// At most three of `known` that look like `word`, nearest first: few edits away (a letter more, less, other, or two
/// swapped; upper and lower case are the same), or one contains the other.
std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

/// "did you mean 'a' or 'b'?"; if nothing is near, "expected one of: a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace rondo
