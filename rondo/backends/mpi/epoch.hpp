// SPDX-License-Identifier: BSD-3-Clause
// Epochs: what was remembered of communicators outside their own state holds until the epoch ends.
#pragma once

#include <atomic>
#include <cstdint>

// Threads find such a variable without a call. It must be small: librondo.so loads the library late, and glibc keeps
// 1664 bytes for all libraries that come late with such variables. SimGrid loads one for each rank.
#ifdef RONDO_ABI_SIMGRID
#define RONDO_THREAD_LOCAL thread_local
#else
#define RONDO_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local
#endif

namespace rondo::mpi {

/// The distance between epochs. The numbers in between tell apart what holds in an epoch, so that one number says both.
inline constexpr std::uint64_t epoch_step = 4;

inline std::atomic<std::uint64_t> current_epoch{epoch_step};

inline std::uint64_t epoch() { return current_epoch.load(std::memory_order_relaxed); }
/// Ends the epoch: a communicator is gone, whose handle may come to mean another one, or decisions are void. Threads
/// that learn of that by any synchronisation also see the new epoch.
inline void end_epoch() { current_epoch.fetch_add(epoch_step, std::memory_order_relaxed); }

}  // namespace rondo::mpi
