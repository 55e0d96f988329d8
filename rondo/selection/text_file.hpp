// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace rondo {

/// All of a file that a user wrote. Throws Error: "<path>: cannot read <what>: why".
std::string read_text_file(const std::string& path, const char* what);

/// Gives all lines of such a file to `read`, without comments (behind #) and blanks at either end; empty ones are left
/// out; the first one of the text is number 1. Then calls `finish`, if there is one. To an Error that either throws,
/// adds the place: "<name>:<line>: ".
void read_lines(std::string_view text, std::string_view name,
                const std::function<void(std::string_view line, int number)>& read,
                const std::function<void()>& finish = {});

}  // namespace rondo
