// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <thread>

namespace rondo::shared_memory {

/// Between threads of this process, for what takes less than a microsecond. std::lock_guard and std::unique_lock take
/// it.
class SpinLock {
  public:
    [[nodiscard]] bool try_lock() {
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void lock() {
        while (!try_lock()) std::this_thread::yield();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken_{false};
};

}  // namespace rondo::shared_memory
