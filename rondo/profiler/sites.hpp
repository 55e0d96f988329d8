// SPDX-License-Identifier: BSD-3-Clause
// From where the program calls MPI. Callers take turns.
#pragma once

#include <cstdint>

#include "rondo/profiler/recorder.hpp"

namespace rondo::profiler {

/// The number in the file of a place: an address, and a hash of Python's frames (0: none). `none` without room.
std::uint32_t site_of(const void* caller, Word frames);

/// Looks whether there is a Python in the process.
void look_for_python();
/// The frames that the thread is in, a line each: "file.py:12 in step".
std::string text_of_python_frames();

}  // namespace rondo::profiler
