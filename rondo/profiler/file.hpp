// SPDX-License-Identifier: BSD-3-Clause
// The rank's file. Callers take turns.
#pragma once

#include <string>
#include <string_view>

#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

/// Makes the file, or memory that is written to it at the end where the file system cannot keep a promise of space.
/// Empty if one of them worked, else the reason. `path`: without what tells files of the same name apart.
std::string open_file(const std::string& path, std::string_view owner);
/// Writes the file, if it is not there already. Empty, or what went wrong.
std::string close_file();
bool is_open();

/// The text's number; 0 also if there is no room for it.
Text keep(std::string_view text);
/// nullptr if there is no room for it.
Sample* next_sample();

}  // namespace rondo::profiler
