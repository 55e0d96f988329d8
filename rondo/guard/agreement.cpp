// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/agreement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "rondo/backends/mpi/roll_call.hpp"

namespace rondo::guard {
namespace {

constexpr std::uint64_t timeout = 1'000'000'000;  // nanoseconds
/// In one call of the library: more spoils broadcasts of Intel MPI, as world.cpp says.
constexpr std::size_t most_bytes_exchanged = 32;
/// Timeouts of this process after which nobody waits any more. They are counted on all its communicators together:
/// these may be many, and do not know of each other.
constexpr int most_timeouts = 3;
std::atomic<int> timeouts{0};

/// Times as words of a roll call, which finds the least. A call whose end was not seen has no end.
long long word_of(float time) {
    constexpr float longest = 9e18F;
    return -static_cast<long long>(std::min(time, longest));
}

}  // namespace

Attendance timed_barrier(const mpi::Communicator& communicator, MPI_Comm comm, bool ready, bool call_waits_for_all,
                         std::span<float> times) {
    const Attendance own = ready ? Attendance::all_ready : Attendance::not_all_ready;
    if (call_waits_for_all) {
        static const MPI_Datatype type = MPI_INT;
        static const MPI_Op least = MPI_MIN;
        int answer = static_cast<int>(own);
        const bool agreed = mpi::library().Allreduce(MPI_IN_PLACE, &answer, 1, type, least, comm) == MPI_SUCCESS;
        if (!agreed || !exchange_times(comm, times)) return Attendance::not_all_ready;
        return static_cast<Attendance>(answer);
    }
    mpi::Route route = communicator.route();
    route.tag = communicator.context().meeting_tag();
    std::array<long long, 1 + Trial::most_values> words{static_cast<long long>(own)};
    static_assert(words.size() <= mpi::most_asked);
    const std::span<long long> least = std::span(words).first(1 + times.size()), of_times = least.subspan(1);
    std::ranges::transform(times, of_times.begin(), word_of);
    const std::uint64_t patience = timeouts < most_timeouts ? timeout : 0;
    const mpi::Roll roll = mpi::call_roll(route, communicator.context(), least, patience);
    if (roll.waits_in_vain) ++timeouts;
    if (!roll.is_complete) return Attendance::not_all_here;
    std::ranges::transform(of_times, times.begin(), [](long long word) { return static_cast<float>(-word); });
    return static_cast<Attendance>(least[0]);
}

bool exchange_times(MPI_Comm comm, std::span<float> times) {
    static const MPI_Datatype type = MPI_FLOAT;
    static const MPI_Op slowest = MPI_MAX;
    constexpr std::size_t most = most_bytes_exchanged / sizeof(float);
    bool is_done = true;
    for (std::size_t done = 0; done < times.size(); done += most) {
        const auto piece = times.subspan(done, std::min(most, times.size() - done));
        const auto count = static_cast<int>(piece.size());
        is_done &= mpi::library().Allreduce(MPI_IN_PLACE, piece.data(), count, type, slowest, comm) == MPI_SUCCESS;
    }
    return is_done;
}

}  // namespace rondo::guard
