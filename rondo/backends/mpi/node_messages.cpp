// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/node_messages.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "rondo/backends/mpi/packing.hpp"

namespace rondo::mpi {
namespace {

// A look at shared memory takes some 20 ns. Where each rank has a core, a rank yields to other processes than ranks.
constexpr int polls_before_yield = 5000;
constexpr int polls_before_yield_if_oversubscribed = 100;
// The library moves messages of the program only while somebody calls it. A peer may wait for one of them.
constexpr int polls_between_calls = 256;
constexpr int yields_between_calls = 4;
constexpr std::chrono::seconds between_looks{1};

}  // namespace

void NodeMessages::begin(const Datatype& type, int tag, MPI_Comm comm, Rank self) {
    type_ = &type;
    tag_ = tag;
    comm_ = comm;
    self_ = self;
    packed_.clear();  // forgets messages of a call for which there was no memory
    as_packed_ = type.predefined ? type.contiguous : lies_as_packed(type);
}

char* NodeMessages::make_room(std::uint32_t index, void* received, Count count) {
    packed_.push_back({index, received, count, std::make_unique_for_overwrite<char[]>(bytes_of(count))});
    return packed_.back().bytes.get();
}

int NodeMessages::send(int neighbour, void* elements, Count count, std::uint32_t index, bool& complete) {
    void* data = elements;
    if (!as_packed_) {
        char* const packed = make_room(index, nullptr, count);
        if (const int error = pack({elements, count, *type_}, false, packed, comm_); error != MPI_SUCCESS) return error;
        data = packed;
    }
    complete = transfers_.send(neighbour, static_cast<std::uint32_t>(tag_), data, bytes_of(count), index);
    if (complete && !as_packed_) packed_.pop_back();
    return MPI_SUCCESS;
}

int NodeMessages::receive(int neighbour, void* elements, Count count, std::uint32_t index) {
    void* const into = as_packed_ ? elements : make_room(index, elements, count);
    transfers_.receive(neighbour, static_cast<std::uint32_t>(tag_), into, bytes_of(count), index);
    return MPI_SUCCESS;
}

int NodeMessages::send_now(int neighbour, const void* elements, Count count) {
    for (std::int64_t polls = 1;; ++polls) {
        if (transfers_.send_now(neighbour, static_cast<std::uint32_t>(tag_), elements, bytes_of(count))) break;
        if (has_failed()) return code_of_failure();
        give_way(polls);
    }
    return MPI_SUCCESS;
}

int NodeMessages::receive_now(int neighbour, void* elements, Count count) {
    for (std::int64_t polls = 1;; ++polls) {
        if (transfers_.receive_now(neighbour, static_cast<std::uint32_t>(tag_), elements, bytes_of(count))) break;
        if (has_failed()) return code_of_failure();
        give_way(polls);
    }
    return MPI_SUCCESS;
}

int NodeMessages::unpack_received(std::uint32_t index) {
    const auto found =
        std::find_if(packed_.begin(), packed_.end(), [&](const Packed& each) { return each.index == index; });
    const Packed packed = std::move(*found);
    packed_.erase(found);
    if (packed.received == nullptr) return MPI_SUCCESS;
    return unpack(packed.bytes.get(), {packed.received, packed.count, *type_}, false, comm_);
}

/// The error code of a failure: a library that survives failed processes has a code for them.
int NodeMessages::code_of_failure() const {
    if (transfers_.failure() == shared_memory::Transfers::too_long) return MPI_ERR_TRUNCATE;
    for (const Rank each : node_.reached()) {
        int found = 0;
        const int error = library().Iprobe(each, tag_, comm_, &found, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_ERR_OTHER;
}

/// Looks for neighbours that have ended. The launcher ends a program when a rank has failed, but not always. Messages
/// that a process has sent before it ended must have arrived: at the second look, if nothing moved in between, no more
/// will come.
void NodeMessages::look_for_ended() {
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + between_looks;
    const int ended = transfers_.ended_neighbour();
    misses_somebody_ = ended >= 0 && ended == ended_;
    ended_ = ended;
}

void NodeMessages::give_way(std::int64_t polls) {
    if (polls == 1) {
        next_look_ = Clock::time_point::max();
        ended_ = -1;
    }
    const bool yields = polls > (node_.is_oversubscribed() ? polls_before_yield_if_oversubscribed : polls_before_yield);
    if (polls % (yields ? yields_between_calls : polls_between_calls) == 0) {
        int found = 0;
        library().Iprobe(self_, tag_, comm_, &found, MPI_STATUS_IGNORE);
        if (next_look_ == Clock::time_point::max()) next_look_ = Clock::now() + between_looks;
        else look_for_ended();
    }
    if (yields) std::this_thread::yield();
}

void NodeMessages::abandon() {
    transfers_.abandon();
    packed_.clear();
    misses_somebody_ = false;
}

}  // namespace rondo::mpi
