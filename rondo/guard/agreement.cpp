// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/agreement.hpp"

#include <algorithm>
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

}  // namespace

Attendance timed_barrier(const mpi::Communicator& communicator, MPI_Comm comm, bool ready, bool call_waits_for_all) {
    const Attendance own = ready ? Attendance::all_ready : Attendance::not_all_ready;
    if (call_waits_for_all) {
        static const MPI_Datatype type = MPI_INT;
        static const MPI_Op least = MPI_MIN;
        int answer = static_cast<int>(own);
        const bool agreed = mpi::library().Allreduce(MPI_IN_PLACE, &answer, 1, type, least, comm) == MPI_SUCCESS;
        return agreed ? static_cast<Attendance>(answer) : Attendance::not_all_ready;
    }
    mpi::Route route = communicator.route();
    route.tag = communicator.context().meeting_tag();
    long long least[1] = {static_cast<long long>(own)};
    const std::uint64_t patience = timeouts < most_timeouts ? timeout : 0;
    const mpi::Roll roll = mpi::call_roll(route, communicator.context(), least, patience);
    if (roll.waits_in_vain) ++timeouts;
    return roll.is_complete ? static_cast<Attendance>(least[0]) : Attendance::not_all_here;
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
