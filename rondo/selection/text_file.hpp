// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace rondo {

/// All of a file that a user wrote. Throws Error: "<path>: cannot read <what>: why".
std::string read_text_file(const std::string& path, const char* what);

}  // namespace rondo
