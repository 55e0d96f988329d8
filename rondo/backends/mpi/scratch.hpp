// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

namespace rondo::mpi {

/// Memory for one call. It comes from a few pieces that the process keeps, and goes back there: the second call gets it
/// without the system, its pages included. Safe with any number of threads, also those of a user-level scheduler: a
/// piece has one holder at a time. A short piece stays with its user.
class Scratch {
  public:
    Scratch() = default;
    Scratch(Scratch&& other) noexcept
        : piece_(std::exchange(other.piece_, nullptr)), idle_bytes_(std::exchange(other.idle_bytes_, 0)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (idle_bytes_ > 0) give_piece_back();
    }

    /// Takes memory. Earlier memory must have been given back. Throws std::bad_alloc.
    void take(std::size_t bytes) {
        if (bytes > idle_bytes_) take_piece(bytes);
    }
    /// The memory: at least as many bytes as were asked for.
    [[nodiscard]] char* bytes() const { return piece_; }

    /// Gives the memory back at the end, when no message uses it any more.
    void give_back() {
        if (piece_ != nullptr && idle_bytes_ == 0) keep_or_give_back();
    }
    /// Gives the memory up after a failure, when messages may still use it: it is never used again.
    void abandon() {
        piece_ = nullptr;
        idle_bytes_ = 0;
    }

  private:
    void take_piece(std::size_t bytes);
    void keep_or_give_back();
    void give_piece_back();

    char* piece_ = nullptr;
    std::size_t idle_bytes_ = 0;  // bytes of a short piece that stays: it serves calls that need no more
};

}  // namespace rondo::mpi
