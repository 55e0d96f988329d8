// SPDX-License-Identifier: BSD-3-Clause
// Tests try fewer groups of ranks where they are sanitized or run on an emulated processor: they take ten times as long
// there, and errors of memory or of compilers show in small groups, too.
#pragma once

namespace rondo {

#if defined(__SANITIZE_ADDRESS__) || defined(RONDO_TESTS_ARE_EMULATED)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace rondo
