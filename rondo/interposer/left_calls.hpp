// SPDX-License-Identifier: BSD-3-Clause
// How many calls went to the library's own functions, and why: what `rondo_left_to_library` says.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::interposer {

/// `collective`: its index in the registry. The reason lives for ever.
void note_left_call(std::size_t collective, const char* reason);
void forget_left_calls(std::size_t collective);

/// Since they were forgotten.
std::uint64_t left_calls(std::size_t collective);
/// Of the last of them.
const char* reason_of_left_call(std::size_t collective);

}  // namespace rondo::interposer
