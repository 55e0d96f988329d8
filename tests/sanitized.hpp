// SPDX-License-Identifier: BSD-3-Clause
// What is sanitized, or runs on an emulated processor, is ten times slower, and errors of memory or of compilers do not
// wait for larger groups: tests try fewer of them.
#pragma once

namespace rondo {

#if defined(__SANITIZE_ADDRESS__) || defined(RONDO_TESTS_ARE_EMULATED)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace rondo
