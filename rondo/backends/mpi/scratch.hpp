// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rondo::mpi {

struct KeptMemory {
    std::unique_ptr<char[]> memory;
    std::size_t size = 0;
};

/// What memory is for: one call may hold one piece for each purpose.
enum class Purpose : std::uint8_t { plan, packing };

/// Memory for one call, borrowed from this thread, which keeps it for the next one: a call runs to its end in one
/// thread, and user operators cannot call collectives. Kept memory is bounded; what is larger is given back to the
/// system.
class Scratch {
  public:
    /// Throws std::bad_alloc.
    Scratch(std::size_t bytes, Purpose purpose) {
        if (bytes == 0) return;
        kept_ = &of_this_thread[static_cast<std::size_t>(purpose)];
        if (bytes > kept_->size) {
            release();
            kept_->memory.reset(new char[bytes]);
            kept_->size = bytes;
        }
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (kept_ != nullptr) abandon();
    }

    [[nodiscard]] char* bytes() const { return kept_ != nullptr ? kept_->memory.get() : nullptr; }

    /// At the end, when no message uses the memory any more. What is not given back, after a failed call or one that
    /// ended by an exception, is never used again.
    void give_back() {
        if (kept_ == nullptr) return;
        if (kept_->size > most_kept) release();
        kept_ = nullptr;
    }

  private:
    static constexpr std::size_t most_kept = std::size_t{64} << 20;  // bytes

    void abandon() {
        (void)kept_->memory.release();
        kept_->size = 0;
    }

    void release() {
        kept_->memory.reset();
        kept_->size = 0;
    }

    static inline thread_local KeptMemory of_this_thread[2];  // by Purpose
    KeptMemory* kept_ = nullptr;                              // none for a call that needs no scratch
};

}  // namespace rondo::mpi
