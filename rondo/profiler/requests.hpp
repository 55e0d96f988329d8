// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives that do not block, as long as they are open: what is spent in MPI_Wait and its like for them
// is told apart from what is spent for messages. Without <mpi.h>, as recorder.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "rondo/profiler/recorder.hpp"

namespace rondo::profiler {

/// Open at a time, at most; time for others counts as that of messages.
inline constexpr std::size_t most_requests = 256;

/// How many are remembered. Others are of messages.
extern std::atomic<std::uint32_t> open_requests;

/// Of a collective whose calls are counted in a line.
void remember_request(HandleWord request, Line* line);
/// That nobody waits for any more.
void forget_request(HandleWord request);

/// A call that completes requests, or asks about them. Its time is shared out evenly: among all of its requests that
/// are open, or, where it waits for any or some of them, among those that it completes.
class Completion {
  public:
    enum class Of : std::uint8_t { all, some };

    /// Before the call. The requests stay where they are until it is over.
    Completion(std::span<const HandleWord> requests, Of of);
    Completion(const Completion&) = delete;  // which requests are in it is known by its address
    Completion& operator=(const Completion&) = delete;
    ~Completion() = default;

    /// Adds to the lines what is theirs of the call's time; what is left is of messages.
    Ticks share_out(Ticks elapsed);

  private:
    std::span<const HandleWord> requests_;
    Of of_;
    std::size_t active_ = 0;          ///< requests that were open before the call
    bool is_of_collectives_ = false;  ///< any of them
};

}  // namespace rondo::profiler
