// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/progress.hpp"

namespace rondo::mpi {
namespace {

int state_key = MPI_KEYVAL_INVALID;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int delete_state(MPI_Comm, int, void* state, void*) {
    end_epoch();
    static_cast<Communicator*>(state)->end();
    return MPI_SUCCESS;
}

}  // namespace

bool prepare_communicators() {
    return library().Comm_create_keyval(copy_nothing, delete_state, &state_key, nullptr) == MPI_SUCCESS;
}

void end_communicators() {
    end_epoch();
    library().Comm_free_keyval(&state_key);
}

/// The library takes over a hundred instructions to find an attribute. So each thread remembers the last one, until
/// some state is deleted, when a handle may come to mean another communicator.
std::optional<Communicator*> Communicator::of(MPI_Comm comm) {
    struct Found {
        MPI_Comm comm{};
        std::uint64_t epoch = 0;
        Communicator* state = nullptr;
    };
    static RONDO_THREAD_LOCAL Found last;
    if (last.comm == comm && last.epoch == epoch()) return last.state;
    const std::uint64_t now = epoch();
    void* state = nullptr;
    int found = 0;
    if (library().Comm_get_attr(comm, state_key, static_cast<void*>(&state), &found) != MPI_SUCCESS) return {};
    if (found == 0) return nullptr;
    last = {comm, now, static_cast<Communicator*>(state)};
    return last.state;
}

Communicator::Communicator()
    : number_([] {
          static std::atomic<std::uint64_t> last{0};
          return ++last;
      }()) {}

Communicator* Communicator::make(MPI_Comm comm) {
    std::unique_ptr<Communicator> fresh(new Communicator);
    fresh->set_up(comm);
    // Other ranks may go on with Rondo. This one has no memory left for a few bytes: its call fails, as any may then.
    if (library().Comm_set_attr(comm, state_key, fresh.get()) != MPI_SUCCESS) throw std::bad_alloc();
    return fresh.release();
}

void Communicator::set_up(MPI_Comm comm) {
    int inter = 0;
    library().Comm_test_inter(comm, &inter);
    if (inter != 0) {
        native_reason_ = "inter-communicator";
        size_ = 0;
        return;
    }
    library().Comm_rank(comm, &rank_);
    library().Comm_size(comm, &size_);
    if (size_ == 1) {
        native_reason_ = "one process";
    } else if (world().misses_ranks()) {
        native_reason_ = "not all ranks have Rondo";
    } else if (!world().agreed()) {
        native_reason_ = "MPI was initialised without Rondo";
    } else if (world().ranks_disagree()) {
        native_reason_ = "the ranks were given different instructions";
    } else if (world().messages() == library().comm_null) {
        native_reason_ = "no communicator to be had";
    } else {
        spread_ = world().possible_spread(size_);
        world_ranks_.reserve(static_cast<std::size_t>(std::min(size_, world().size())));
    }
}

/// Ranks that were spawned, or joined from another program, may not have Rondo: they would not take part. A group that
/// spans two worlds has an outsider for every member, so all see it alike.
bool Communicator::find_in_world(MPI_Comm comm) {
    if (!is_found()) {
        if (!translate_ranks(comm)) {
            world_ranks_.clear();
            native_reason_ = "processes of several programs";
            return false;
        }
        spread_ = world().spread(world_ranks_);
    }
    return true;
}

bool Communicator::translate_ranks(MPI_Comm comm) {
    const std::span<const Rank> all = world().ranks();
    if (size_ > world().size()) return false;
    world_ranks_.assign(all.begin(), all.begin() + size_);
    if (comm == library().comm_world) return true;
    MPI_Group group;
    if (library().Comm_group(comm, &group) != MPI_SUCCESS) return false;
    const int error = library().Group_translate_ranks(group, size_, all.data(), world().group(), world_ranks_.data());
    library().Group_free(&group);
    return error == MPI_SUCCESS &&
           std::find(world_ranks_.begin(), world_ranks_.end(), MPI_UNDEFINED) == world_ranks_.end();
}

bool Communicator::obtain_context(MPI_Comm comm) {
    if (!asked_for_context_) {
        asked_for_context_ = true;
        context_ = world().contexts().meet(comm);
        if (!context_.exists()) {
            // Caches must not differ: a call that one rank counts for a trial, all count.
            native_reason_ = "no context for messages to be had";
            end_epoch();
        }
        Node* const node = world().node();
        route_ = {world().messages(), world_ranks_, rank_, 0, node, node != nullptr && node->reaches_all(world_ranks_)};
    }
    return context_.exists();
}

Communicator::~Communicator() {
    // A context with messages left is kept: the first calls of its next owner might take them.
    if (!messages_may_be_left_) world().contexts().give_back(context_);
}

/// The arguments of a message to MPI_PROC_NULL are checked like any other's.
bool Communicator::can_send(const void* data, const Datatype& type) const {
    return library().Send(data, 1, type.handle, MPI_PROC_NULL, 0, world().messages()) == MPI_SUCCESS;
}

/// A tag below 0 is an error, also in a message to MPI_PROC_NULL.
bool Communicator::library_checks_arguments() const {
    constexpr int impossible_tag = -17;
    return library().Send(nullptr, 0, library().byte, MPI_PROC_NULL, impossible_tag, world().messages()) != MPI_SUCCESS;
}

bool Communicator::obtain_route_to_begin(MPI_Comm comm, bool is_persistent) {
    constexpr int calls_without = 2;
    if (asked_for_context_ || comm == library().comm_world) return obtain_context(comm);
    if (own_ != nullptr) return true;
    if (OwnCommunicator::can_be_made && (is_persistent || ++begun_without_ == calls_without))
        own_ = std::make_shared<OwnCommunicator>(comm);
    return is_persistent && own_ != nullptr;
}

Route Communicator::begin_call() {
    count_call();
    if (pending_++ == 0) oldest_pending_ = calls_;
    return route_to_begin(context_.exists(), tag(calls_));
}

/// A communicator of Rondo's own is made later.
Route Communicator::route_to_begin(bool has_context, int tag) const {
    if (has_context) return {route_.communicator, world_ranks_, rank_, tag, nullptr, false};
    const auto numbers = world().ranks().first(static_cast<std::size_t>(size_));
    return {library().comm_null, numbers, rank_, tag, nullptr, false};
}

/// To ask the library for messages would not do: it goes on with nothing if there is one.
void Communicator::wait_for_pending() {
    while (pending_ > 0) let_library_go_on();
}

}  // namespace rondo::mpi
