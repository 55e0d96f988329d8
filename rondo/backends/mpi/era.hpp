// SPDX-License-Identifier: BSD-3-Clause
// When what was remembered of communicators outside their own state stops to hold.
#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::mpi {

inline std::atomic<std::uint64_t> current_era{1};

inline std::uint64_t era() { return current_era.load(std::memory_order_relaxed); }
/// A communicator is gone, whose handle may come to mean another one, or decisions are void. What happens later in
/// other threads knows of it by the same means by which they know that.
inline void end_era() { current_era.fetch_add(1, std::memory_order_relaxed); }

}  // namespace rondo::mpi
