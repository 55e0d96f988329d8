// SPDX-License-Identifier: BSD-3-Clause
// When what was remembered of communicators outside their own state stops to hold.
#pragma once

#include <atomic>
#include <cstdint>

// Threads find such a variable without a call. Libraries that are loaded late, as SimGrid does, have no room for it.
#ifdef RONDO_ABI_SIMGRID
#define RONDO_THREAD_LOCAL thread_local
#else
#define RONDO_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local
#endif

namespace rondo::mpi {

/// Epochs are multiples of it: what holds in one may be one of so many things, and a single number says which.
inline constexpr std::uint64_t epoch_step = 4;

inline std::atomic<std::uint64_t> current_epoch{epoch_step};

inline std::uint64_t epoch() { return current_epoch.load(std::memory_order_relaxed); }
/// A communicator is gone, whose handle may come to mean another one, or decisions are void. What happens later in
/// other threads knows of it by the same means by which they know that.
inline void end_epoch() { current_epoch.fetch_add(epoch_step, std::memory_order_relaxed); }

}  // namespace rondo::mpi
