// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/roll_call.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

constexpr std::uint64_t patience = 10'000'000'000;  // nanoseconds
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

}  // namespace

/// The reductions are nonblocking: a rank can go on without their end, and no blocking collective of a rank without
/// Rondo matches them, though its nonblocking ones do, and with Open MPI the making of communicators does. The second
/// reduction says which ranks have heard the answer to the first in time. Such a rank knows that all ranks have Rondo,
/// and waits for the second without a limit: a rank that has heard nothing in time asks it, too, before it goes on, and
/// takes part in it whenever it calls MPI.
bool call_roll(std::span<long long> values) {
    static Question& first = *new Question;
    static Question& second = *new Question;
    if (!first.ask(values)) return false;
    const bool has_heard = first.is_answered_within(patience);
    const long long heard[1] = {has_heard ? 1 : 0};
    if (!second.ask(heard) || !has_heard || !second.is_answered() || second.values()[0] == 0) return false;
    std::copy_n(first.values(), values.size(), values.begin());
    return true;
}

}  // namespace rondo::mpi
