// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// The numbers of a communicator's persistent calls, equal on all ranks. A number is free again when no rank needs it
/// any more, which ranks know of each other only when they ask.
class PersistentNumbers {
  public:
    static constexpr std::uint32_t most = 4096;

    /// A number below `limit` that no persistent call has, on all ranks, which make such calls in one order; nothing,
    /// on all ranks, if there is none. Once all have been taken, it asks the ranks of `comm` which are free: waits for
    /// them.
    std::optional<std::uint32_t> take(MPI_Comm comm, std::uint32_t limit);
    /// Gives a number back that this rank does not need any more.
    void give_back(std::uint32_t number) { is_needed_[number / 64] &= ~bit(number); }

  private:
    static constexpr std::size_t words = most / 64;
    using Bits = std::array<std::uint64_t, words>;

    static std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << (number % 64); }
    static Bits all_below(std::uint32_t limit);
    void ask(MPI_Comm comm, std::uint32_t limit);
    std::optional<std::uint32_t> take_free();

    Bits is_free_{};  // equal on all ranks
    std::array<std::atomic<std::uint64_t>, words> is_needed_{};
    bool is_begun_ = false;
};

}  // namespace rondo::mpi
