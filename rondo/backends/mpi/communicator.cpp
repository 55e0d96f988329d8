// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/communicator.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {
namespace {

constexpr std::size_t most_decisions = 256;
constexpr std::size_t most_plan_bytes = std::size_t{64} << 20;

int state_key = MPI_KEYVAL_INVALID;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int delete_state(MPI_Comm, int, void* state, void*) {
    delete static_cast<Communicator*>(state);
    return MPI_SUCCESS;
}

}  // namespace

std::size_t CallKeyHash::operator()(const CallKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.count);
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(key.element_bytes),
          std::uint64_t{key.division} << 32 | std::uint64_t{key.choice} << 16 | key.collective,
          static_cast<std::uint64_t>(key.root) << 3 | std::uint64_t{key.commutative} << 2 |
              std::uint64_t{key.in_place} << 1 | std::uint64_t{key.over_int}}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

bool prepare_communicators() {
    return library().Comm_create_keyval(copy_nothing, delete_state, &state_key, nullptr) == MPI_SUCCESS;
}

Communicator* Communicator::of(MPI_Comm comm) {
    void* state = nullptr;
    int found = 0;
    if (library().Comm_get_attr(comm, state_key, static_cast<void*>(&state), &found) != MPI_SUCCESS) return nullptr;
    if (found != 0) return static_cast<Communicator*>(state);
    std::unique_ptr<Communicator> fresh(new Communicator);
    fresh->set_up(comm);
    if (library().Comm_set_attr(comm, state_key, fresh.get()) != MPI_SUCCESS) return nullptr;
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
    } else if (!world().agreed()) {
        native_reason_ = "MPI was initialised without Rondo";
    } else if (!find_in_world(comm)) {
        native_reason_ = "processes of several programs";
    } else if (world().ranks_disagree()) {
        native_reason_ = "the ranks were given different instructions";
    } else if (world().messages() == library().comm_null) {
        native_reason_ = "no communicator to be had";
    }
}

/// Ranks that were spawned, or joined from another program, may not have Rondo: they would not take part. A group that
/// spans two worlds has an outsider for everybody, so all members see it alike.
bool Communicator::find_in_world(MPI_Comm comm) {
    std::vector<Rank> ranks(static_cast<std::size_t>(size_));
    world_ranks_.resize(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    if (comm == library().comm_world) {
        world_ranks_ = std::move(ranks);
        context_ = world().context_of_world();
        asked_for_context_ = true;
        return true;
    }
    MPI_Group group;
    if (library().Comm_group(comm, &group) != MPI_SUCCESS) return false;
    const int error = library().Group_translate_ranks(group, size_, ranks.data(), world().group(), world_ranks_.data());
    library().Group_free(&group);
    return error == MPI_SUCCESS &&
           std::find(world_ranks_.begin(), world_ranks_.end(), MPI_UNDEFINED) == world_ranks_.end();
}

bool Communicator::can_communicate(MPI_Comm comm) {
    if (!asked_for_context_) {
        asked_for_context_ = true;
        context_ = world().take_context(comm);
    }
    return context_.exists();
}

Rank Communicator::ranks_per_node() {
    if (ranks_per_node_ < 0) ranks_per_node_ = world().ranks_per_node(world_ranks_);
    return ranks_per_node_;
}

Communicator::~Communicator() { world().give_back(context_); }

Decision* Communicator::find(const CallKey& key) {
    if (last_key_ != nullptr && *last_key_ == key) return last_decision_;
    const auto found = decisions_.find(key);
    if (found == decisions_.end()) return nullptr;
    last_key_ = &found->first;
    last_decision_ = &found->second;
    return last_decision_;
}

Decision* Communicator::remember(const CallKey& key, Decision decision) {
    const std::size_t bytes = decision.bytes();
    const auto same = decisions_.find(key);
    if (same != decisions_.end()) plan_bytes_ -= same->second.bytes();
    if (decisions_.size() >= most_decisions || plan_bytes_ + bytes > most_plan_bytes) {
        last_key_ = nullptr;
        decisions_.clear();
        plan_bytes_ = 0;
    }
    plan_bytes_ += bytes;
    const auto place = decisions_.insert_or_assign(key, std::move(decision)).first;
    last_key_ = &place->first;
    last_decision_ = &place->second;
    return last_decision_;
}

int Communicator::run(const Plan& plan, const Operands& operands) {
    count_call();  // before anything can fail: all ranks count alike
    return execute(plan, operands);
}

int Communicator::run_on_bytes(const Plan& plan, const UserData& data, bool is_source) {
    count_call();
    if (lies_as_packed(data.type)) return execute(plan, {nullptr, data.buffer, byte_type(), nullptr});
    return run_packed(plan, data, is_source);
}

int Communicator::run_packed(const Plan& plan, const UserData& data, bool is_source) {
    Scratch packed;
    packed.take(static_cast<std::size_t>(data.bytes()));
    if (is_source) {
        if (const int error = pack(data, packed.bytes(), world().messages()); error != MPI_SUCCESS) {
            packed.give_back();
            return error;
        }
    }
    const int error = execute(plan, {nullptr, packed.bytes(), byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int unpacked = is_source ? MPI_SUCCESS : unpack(packed.bytes(), data, world().messages());
    packed.give_back();
    return unpacked;
}

int Communicator::run_on_parts(const Plan& plan, const Gathering& data, Count bytes) {
    count_call();
    char* whole = data.output();
    Scratch packed;
    if (whole == nullptr) {
        packed.take(static_cast<std::size_t>(bytes));
        whole = packed.bytes();
    }
    int error = data.enter(whole, world().messages());
    if (error != MPI_SUCCESS) {
        packed.give_back();
        return error;
    }
    error = execute(plan, {data.input(), whole, byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    error = data.leave(whole, world().messages());
    packed.give_back();
    return error;
}

/// A message to nobody has its arguments judged as any other.
bool Communicator::can_send(const void* data, const Datatype& type) const {
    return library().Send(data, 1, type.handle, MPI_PROC_NULL, 0, world().messages()) == MPI_SUCCESS;
}

int Communicator::execute(const Plan& plan, const Operands& operands) {
    return operation_.run(plan, operands, {world().messages(), world_ranks_, rank_, context_.tag(calls_)});
}

}  // namespace rondo::mpi
