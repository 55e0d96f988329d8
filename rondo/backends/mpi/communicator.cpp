// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/communicator.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/device_memory.hpp"
#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {
namespace {

constexpr std::size_t most_decisions = 256;
constexpr std::size_t most_numbers = std::size_t{1} << 18;  // 2 MiB

/// What tells apart calls that are divided in another way.
std::size_t numbers_in(const Decision& decision) { return decision.starts != nullptr ? decision.starts->size() : 0; }

int state_key = MPI_KEYVAL_INVALID;

RONDO_THREAD_LOCAL const Communicator* watched = nullptr;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int delete_state(MPI_Comm, int, void* state, void*) {
    end_epoch();
    delete static_cast<Communicator*>(state);
    return MPI_SUCCESS;
}

/// Of what was done before a plan ran and after: the others run it, whatever this rank could not do.
template <class... Errors>
int first_error(Errors... errors) {
    int first = MPI_SUCCESS;
    ((first = first != MPI_SUCCESS ? first : errors), ...);
    return first;
}

}  // namespace

bool prepare_communicators() {
    return library().Comm_create_keyval(copy_nothing, delete_state, &state_key, nullptr) == MPI_SUCCESS;
}

void end_communicators() {
    end_epoch();
    library().Comm_free_keyval(&state_key);
}

/// The library takes over a hundred instructions to find an attribute; this thread's last one holds until some state is
/// deleted, when a handle may come to mean another communicator.
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
/// spans two worlds has an outsider for everybody, so all members see it alike.
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

bool Communicator::can_communicate(MPI_Comm comm) {
    if (!asked_for_context_) {
        asked_for_context_ = true;
        context_ = world().meet(comm);
        if (!context_.exists()) {
            // Whatever ranks remember: what one counts for a trial, all count.
            native_reason_ = "no context for messages to be had";
            end_epoch();
        }
        Node* const node = world().node();
        route_ = {world().messages(), world_ranks_, rank_, 0, node, node != nullptr && node->reaches_all(world_ranks_)};
    }
    return context_.exists();
}

Communicator::~Communicator() {
    if (watched == this) watched = nullptr;
    // Else the first calls of its next owner might take what this one has not.
    if (!messages_may_be_left_) world().give_back(context_);
}

const Communicator* watch(const Communicator* communicator) { return std::exchange(watched, communicator); }

bool Communicator::LeftToLibrary::has(const CallKey& call) const {
    const Count bytes = call.count * call.element_bytes;
    return key.collective == call.collective && key.choice == call.choice && key.commutative == call.commutative &&
           !call.over_int && decision.lowest <= bytes && bytes <= decision.highest;
}

const Decision* Communicator::find(const CallKey& key) {
    RecentDecisions& recent = recent_[key.collective];
    if (const Decision* const found = recent.find(key)) return found;
    for (const LeftToLibrary& calls : left_to_library_) {
        if (calls.has(key)) return &calls.decision;
    }
    auto* const known = decisions_.find(key);
    if (known == nullptr) return nullptr;
    std::shared_ptr<const Plan> plan = known->second.plan.lock();
    if (plan == nullptr && !known->second.is_native) return nullptr;
    Decision decision = known->second.decision;
    decision.plan = std::move(plan);
    return &recent.put(key, std::move(decision), decisions_so_far_);
}

const Decision* Communicator::remember(const CallKey& key, Decision decision) {
    const Decision& made = recent_[key.collective].put(key, std::move(decision), decisions_so_far_);
    try {
        if (made.holds_whatever_the_parts() && !key.over_int) {
            if (left_to_library_.size() >= most_decisions) left_to_library_.clear();
            left_to_library_.push_back({key, made});
            return &made;
        }
        make_room(key, numbers_in(made));
        Kept kept{made, made.plan, made.plan == nullptr};
        kept.decision.plan = nullptr;
        decisions_.add(key, std::move(kept));
        numbers_ += numbers_in(made);
    } catch (const std::bad_alloc&) {
        // This call can be carried out all the same; the next one thinks again.
        return &made;
    }
    return &made;
}

/// For a decision with so many numbers, in place of what is known for the key.
void Communicator::make_room(const CallKey& key, std::size_t numbers) {
    if (const auto* known = decisions_.find(key)) {
        numbers_ -= numbers_in(known->second.decision);
        decisions_.forget(key);
    }
    while (decisions_.size() >= most_decisions || (decisions_.size() > 0 && numbers_ + numbers > most_numbers)) {
        numbers_ -= numbers_in(decisions_.oldest().second.decision);
        decisions_.forget_oldest();
    }
}

int Communicator::run(const Plan& plan, const Operands& operands) {
    count_call();  // before anything can fail: all ranks count alike
    return execute(plan, operands);
}

int Communicator::run_on_copies(const Plan& plan, const Operands& operands, const Lengths& lengths) {
    count_call();
    HostCopy input, output;
    const int taken = input.take(const_cast<void*>(operands.input), operands.type, lengths.input, lengths.input);
    const int room_made =
        output.take(operands.output, operands.type, std::max(lengths.before, lengths.after), lengths.before);
    const int error = execute(plan, {input.buffer(), output.buffer(), operands.type, operands.reduction});
    if (error != MPI_SUCCESS) return error;
    input.give_back(0);
    return first_error(taken, room_made, output.give_back(lengths.after));
}

int Communicator::run_on_bytes(const Plan& plan, const UserData& data, bool is_source) {
    count_call();
    // Nearly all broadcasts; short ones notice what more there is to a side.
    if (lies_as_packed(data.type) && !on_device(data.buffer)) {
        return execute(plan, {nullptr, data.buffer, byte_type(), nullptr});
    }
    PackedSide side(Side::of(data));
    const int entered = is_source ? side.enter(world().messages()) : MPI_SUCCESS;
    const int error = execute(plan, {nullptr, side.bytes(), byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int left = is_source ? MPI_SUCCESS : side.leave(world().messages());
    side.give_back();
    return first_error(entered, left);
}

int Communicator::run_between(const Plan& plan, const Side& input, const Side& output) {
    count_call();
    PackedSide from(input), into(output);
    const int entered = from.enter(world().messages());
    const int error = execute(plan, {from.bytes(), into.bytes(), byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int left = into.leave(world().messages());
    from.give_back();
    into.give_back();
    return first_error(entered, left);
}

int Communicator::run_on_parts(const Plan& plan, const Gathering& data, Count bytes) {
    count_call();
    char* whole = data.output();
    Scratch packed;
    if (whole == nullptr) {
        packed.take(static_cast<std::size_t>(bytes));
        whole = packed.bytes();
    }
    const int entered = data.enter(whole, world().messages());
    const int error = execute(plan, {data.input(), whole, byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int left = data.leave(whole, world().messages());
    packed.give_back();
    return first_error(entered, left);
}

int Communicator::run_exchange(const Plan& plan, const Exchanging& data) {
    count_call();
    const ExchangedParts &outgoing = data.outgoing(), &incoming = data.incoming();
    const bool packs_input = !data.in_place() && outgoing.place() == nullptr;
    char *input = outgoing.place(), *output = incoming.place();
    Scratch packed_input, packed_output;
    if (packs_input) {
        packed_input.take(static_cast<std::size_t>(outgoing.bytes()));
        input = packed_input.bytes();
    }
    if (output == nullptr) {
        packed_output.take(static_cast<std::size_t>(incoming.bytes()));
        output = packed_output.bytes();
    }
    int entered = packs_input ? outgoing.pack(input, world().messages()) : MPI_SUCCESS;
    if (data.in_place() && incoming.place() == nullptr) entered = incoming.pack(output, world().messages());
    const int error = execute(plan, {input, output, byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int left = incoming.place() == nullptr ? incoming.unpack(output, world().messages()) : MPI_SUCCESS;
    packed_input.give_back();
    packed_output.give_back();
    return first_error(entered, left);
}

/// A message to nobody has its arguments judged as any other.
bool Communicator::can_send(const void* data, const Datatype& type) const {
    return library().Send(data, 1, type.handle, MPI_PROC_NULL, 0, world().messages()) == MPI_SUCCESS;
}

/// A tag below 0 is an error, also of a message to nobody.
bool Communicator::library_checks_arguments() const {
    constexpr int impossible_tag = -17;
    return library().Send(nullptr, 0, library().byte, MPI_PROC_NULL, impossible_tag, world().messages()) != MPI_SUCCESS;
}

int Communicator::execute(const Plan& plan, const Operands& operands) {
    route_.tag = context_.tag(calls_);
    return operation_.run(plan, operands, route_);
}

}  // namespace rondo::mpi
