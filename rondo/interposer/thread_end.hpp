// SPDX-License-Identifier: BSD-3-Clause
// What a thread has for itself, behind a pointer: thread-local memory is scarce where a library is loaded late (glibc
// keeps 1664 bytes for all such libraries), and is taken from the stacks of all threads.
#pragma once

#include <pthread.h>

namespace rondo::interposer {

/// Frees what threads keep, when they end. A thread that makes something once more while it ends keeps it again.
class AtThreadEnd {
  public:
    explicit AtThreadEnd(void (*free)(void*)) noexcept : exists_(pthread_key_create(&key_, free) == 0) {}
    /// Has something of this thread's freed when it ends. False if the system cannot.
    [[nodiscard]] bool keep(void* something) const noexcept {
        return exists_ && pthread_setspecific(key_, something) == 0;
    }

  private:
    pthread_key_t key_{};
    bool exists_;
};

}  // namespace rondo::interposer
