// SPDX-License-Identifier: BSD-3-Clause
// Keeps what happens in this process, and when, for a picture of the run. Does not include <mpi.h>.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rondo::mpi {

class Tally;

/// A collective call of the program, or a message or local work of one that Rondo carries out.
struct Event {
    enum class Kind : std::uint8_t { call, receive, send, combine, copy };

    Kind kind = Kind::call;
    std::int32_t peer = -1;  ///< of a message: a rank of the world
    std::int32_t tag = 0;    ///< of the call that the message is part of
    std::uint32_t step = 0;  ///< of the schedule
    std::uint64_t bytes = 0;
    std::uint64_t start = 0, end = 0;  ///< nanoseconds of `now`
    const Tally* call = nullptr;       ///< where a call was counted
};

/// The first events of a process. Threads may add at the same time.
class Trace {
  public:
    static constexpr std::size_t most = std::size_t{1} << 15;

    /// Throws std::bad_alloc.
    Trace() : events_(std::make_unique_for_overwrite<Event[]>(most)) {}

    void add(const Event& event) {
        const std::size_t place = added_.fetch_add(1, std::memory_order_relaxed);
        if (place < most) events_[place] = event;
    }
    [[nodiscard]] std::span<const Event> events() const {
        const std::size_t added = added_.load();
        return {events_.get(), added < most ? added : most};
    }
    /// How many there was no room for.
    [[nodiscard]] std::size_t lost() const { return added_.load() - events().size(); }

  private:
    std::unique_ptr<Event[]> events_;  // pages that are never used cost nothing
    std::atomic<std::size_t> added_{0};
};

/// Where events go; nullptr if nobody wants to see them. Set in MPI_Init, and never freed.
inline constinit Trace* trace = nullptr;

}  // namespace rondo::mpi
