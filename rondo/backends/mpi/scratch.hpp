// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace rondo::mpi {

/// Memory for one call. It comes from a few pieces that the process keeps, and goes back there: the second call finds
/// it without the system, its pages included. Safe with any number of threads, also those of a user-level scheduler:
/// whoever holds a piece is its only holder.
class Scratch {
  public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { abandon(); }

    /// What was held before must have been given back. Throws std::bad_alloc.
    void take(std::size_t bytes) {
        if (bytes > 0) take_piece(bytes);
    }
    /// Nothing, if no bytes were asked for.
    [[nodiscard]] char* bytes() const { return piece_; }

    /// At the end, when no message uses the memory any more.
    void give_back() {
        if (piece_ != nullptr) give_piece_back();
    }
    /// After a failure, when messages may still use it: never used again.
    void abandon() { piece_ = nullptr; }

  private:
    void take_piece(std::size_t bytes);
    void give_piece_back();

    char* piece_ = nullptr;
};

}  // namespace rondo::mpi
