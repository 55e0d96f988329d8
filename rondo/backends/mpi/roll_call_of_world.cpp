// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/roll_call_of_world.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

constexpr std::uint64_t patience = 10'000'000'000;  // nanoseconds

}  // namespace

#ifdef RONDO_ABI_OPENMPI

const char* const harm_of_missing_ranks =
    "a rank without it that receives messages of any source and tag on MPI_COMM_WORLD may receive one of Rondo's";

/// Open MPI does not mind messages that nobody receives. It makes communicators by nonblocking collectives.
Roll call_roll_of_world(std::span<const Rank> ranks, Rank rank, std::span<long long> values) {
    constexpr int unlikely_tag = 31353;  // in a program: a rank without Rondo may receive the messages
    return call_roll({library().comm_world, ranks, rank, unlikely_tag, nullptr, false}, Context(), values, patience);
}

#else

const char* const harm_of_missing_ranks = "nonblocking collectives on MPI_COMM_WORLD may fail now";

namespace {

constexpr int polls_at_once = 64;

/// A reduction of the least values. Where not all ranks take part it goes on until the process ends, so it is never
/// destroyed.
class Question {
  public:
    [[nodiscard]] bool ask(std::span<const long long> values) {
        std::ranges::copy(values, values_);
        return library().Iallreduce(MPI_IN_PLACE, values_, static_cast<int>(values.size()), MPI_LONG_LONG, MPI_MIN,
                                    library().comm_world, &request_) == MPI_SUCCESS;
    }
    /// True if all ranks have asked before so many nanoseconds are over.
    [[nodiscard]] bool is_answered_within(std::uint64_t time) {
        const std::uint64_t start = now();
        do {
            for (int poll = 0, done = 0; poll < polls_at_once; ++poll) {
                if (library().Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
                if (done != 0) return true;
            }
            sched_yield();  // ranks may be more than processors
        } while (now() - start < time);
        return false;
    }
    [[nodiscard]] bool is_answered() { return library().Wait(&request_, MPI_STATUS_IGNORE) == MPI_SUCCESS; }
    [[nodiscard]] const long long* values() const { return values_; }

  private:
    long long values_[most_asked] = {};
    MPI_Request request_{};
};

/// The second reduction says which ranks have heard the answer to the first in time. Such a rank knows that all ranks
/// have Rondo, and waits for the second without a limit: a rank that has heard nothing in time asks it, too, before it
/// goes on, and takes part in it whenever it calls MPI.
bool agree(std::span<long long> values) {
    static Question& first = *new Question;
    static Question& second = *new Question;
    if (!first.ask(values)) return false;
    const bool has_heard = first.is_answered_within(patience);
    const long long heard[1] = {has_heard ? 1 : 0};
    if (!second.ask(heard) || !has_heard || !second.is_answered() || second.values()[0] == 0) return false;
    std::copy_n(first.values(), values.size(), values.begin());
    return true;
}

}  // namespace

/// MPICH's MPI_Finalize fails where messages were not received. Its blocking collectives do not match a nonblocking
/// one that not all ranks have called, nor does the making of communicators.
Roll call_roll_of_world(std::span<const Rank> ranks, Rank rank, std::span<long long> values) {
    // Programs of one job have consecutive ranks: mostly one of the two ends has Rondo.
    const bool is_at_an_end = rank == 0 || static_cast<std::size_t>(rank) + 1 == ranks.size();
    return {.is_complete = agree(values), .waits_in_vain = false, .hears_lower_ranks = !is_at_an_end};
}

#endif

}  // namespace rondo::mpi
