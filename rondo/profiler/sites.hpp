// SPDX-License-Identifier: BSD-3-Clause
// From where the program calls MPI. Callers take turns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rondo/profiler/recorder.hpp"

namespace rondo::profiler {

/// Whether a place has a number: an address, and a hash of Python's frames (0: none).
bool knows_site(const void* caller, Word frames);
/// Its number in the file; `none` without room. The text is what Python's frames are, if the place is new.
std::uint32_t site_of(const void* caller, Word frames, std::string_view text_of_frames);

/// Looks whether there is a Python in the process.
void look_for_python();
/// The frames that the thread is in, a line each: "file.py:12 in step". Waits for the lock of the interpreter, so it is
/// not for those whose turn it is.
std::string text_of_python_frames();

}  // namespace rondo::profiler
