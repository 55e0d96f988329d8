// SPDX-License-Identifier: BSD-3-Clause
// What is sanitized runs ten times slower, and memory errors do not wait for larger groups: tests try fewer of them.
#pragma once

namespace rondo {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace rondo
