// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/communicator_site.hpp"

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/guard/agreement.hpp"
#include "rondo/guard/history.hpp"

namespace rondo::guard {
namespace {

using OfCommunicator = StoredTrials<24>;
using OfWorld = StoredTrials<128>;

/// The trials of a communicator. All communicators of all ranks share the world's if calls come in one order
/// everywhere. They do unless every thread may make calls of its own: ranks that see calls of different communicators
/// in different orders could otherwise wait for each other.
Trials trials_of(mpi::Communicator& communicator) {
    mpi::World& world = mpi::world();
    // Where ranks share processors, coming together takes turns of the scheduler, as it takes latencies between nodes.
    const bool on_one_node = communicator.spread().nodes.most == 1 && !world.is_oversubscribed();
    TrialTable* const shared = world.is_serial() ? &world.slot().get<OfWorld>().table : nullptr;
    if (shared != nullptr && communicator.size() == world.size()) return {*shared, nullptr, on_one_node};
    return {communicator.slot().get<OfCommunicator>().table, shared, on_one_node};
}

}  // namespace

CommunicatorSite::CommunicatorSite(mpi::Communicator& communicator, MPI_Comm comm, bool call_waits_for_all)
    : Site(trials_of(communicator), call_waits_for_all), communicator_(communicator), comm_(comm) {}

Attendance CommunicatorSite::come_together(bool ready, std::span<float> times) {
    return timed_barrier(communicator_, comm_, ready, call_waits_for_all(), times);
}

void CommunicatorSite::meet() { mpi::library().Barrier(comm_); }

bool CommunicatorSite::agree_on(std::span<float> times) { return exchange_times(comm_, times); }

std::optional<Trial> CommunicatorSite::take_up(const Trial& fresh) { return history().take_up(fresh, communicator_); }

bool CommunicatorSite::keeps_begun() const { return history().keeps_begun(); }

void CommunicatorSite::note(const Trial& trial) { history().note(trial, communicator_); }

Moment CommunicatorSite::now() const { return {communicator_.number(), communicator_.calls(), mpi::now()}; }

bool CommunicatorSite::is_gone() const { return communicator_.is_freed(); }

}  // namespace rondo::guard
