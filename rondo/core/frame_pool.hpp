// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace rondo {

/// Memory for coroutine frames. Each thread keeps the frames that it has freed and hands them out again, so that
/// generating a schedule allocates nothing after the first time. A frame may be freed by another thread than the one
/// that took it; it then stays with the freeing thread.
void* take_frame(std::size_t bytes);
void return_frame(void* frame, std::size_t bytes) noexcept;

}  // namespace rondo
