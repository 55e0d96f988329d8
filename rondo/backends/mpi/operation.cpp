// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/operation.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/backends/mpi/packing.hpp"
#include "rondo/backends/mpi/slot_bytes.hpp"

namespace rondo::mpi {
namespace {

/// Bytes of a piece of local work: it takes some ten microseconds, and fits well within a core's own cache.
constexpr Count piece_bytes = Count{256} << 10;

bool fits_alone(const Action& action) {
    return action.is_transfer() && action.block.count <= LibraryMessages::most_now;
}

Event::Kind event_kind(ActionKind kind) {
    switch (kind) {
        case ActionKind::receive: return Event::Kind::receive;
        case ActionKind::send: return Event::Kind::send;
        case ActionKind::combine: return Event::Kind::combine;
        case ActionKind::copy: break;
    }
    return Event::Kind::copy;
}

/// True if the plan is a message, and perhaps local work that waits for it.
bool is_one_message(const Plan& plan) {
    const auto actions = plan.actions();
    if (actions.size() > 2 || !fits_alone(actions.front()) || plan.slots().stride > 0) return false;
    return actions.size() == 1 || (plan.waits_for().back() > 0 && !actions.back().is_transfer());
}

}  // namespace

int Operation::run(const Plan& plan, const Operands& operands, const Route& route) {
    if (plan.actions().empty()) return MPI_SUCCESS;
    bind(plan, operands, route);
    if (route.node != nullptr) return run_in_node();
    if (trace == nullptr && is_one_message(plan)) {  // most plans on two ranks: nothing to keep a score of
        error_ = run_alone(plan.actions().front());
        if (error_ == MPI_SUCCESS && plan.actions().size() > 1) error_ = run_local(plan.actions().back());
        finish(error_);
        return error_;
    }
    run_by_score();
    return error_;
}

void Operation::run_by_score() {
    scoreboard_.start(*plan_, static_cast<std::uint64_t>(type_->size));
    while (!advance(true)) {
    }
}

/// Runs the plan inside the node. If all messages are short and go through memory, to keep score takes longer than it
/// saves.
int Operation::run_in_node() {
    const Count bytes = plan_->longest_message() * type_->size;
    if (trace == nullptr && route_->is_inside_node && in_node_->as_packed() && plan_->slots().stride == 0 &&
        bytes <= Count{shared_memory::most_inline}) {
        finish(run_in_order());
    } else {
        run_by_score();
    }
    return error_;
}

/// Runs the plan step by step, as the schedule has it. Sends do not wait for their receivers, so this ends where lock
/// step does.
int Operation::run_in_order() {
    const auto actions = plan_->actions();
    int error = MPI_SUCCESS;
    for (std::size_t i = 0; i < actions.size() && error == MPI_SUCCESS;) {
        if (!actions[i].is_transfer()) {
            error = run_local(actions[i++]);
            continue;
        }
        std::size_t end = i;
        for (; end < actions.size() && actions[end].is_transfer() && actions[end].step == actions[i].step; ++end) {
            if (actions[end].kind == ActionKind::receive) continue;
            error = in_node_->send_now(neighbour(actions[end]), address(actions[end].block), actions[end].block.count);
            if (error != MPI_SUCCESS) return error;
        }
        for (; i < end && error == MPI_SUCCESS; ++i) {
            if (actions[i].kind == ActionKind::send) continue;
            error = in_node_->receive_now(neighbour(actions[i]), address(actions[i].block), actions[i].block.count);
        }
    }
    return error;
}

void Operation::start(const Plan& plan, const Operands& operands, const Route& route) {
    bind(plan, operands, route);
    scoreboard_.start(plan, static_cast<std::uint64_t>(type_->size));
}

void Operation::bind(const Plan& plan, const Operands& operands, const Route& route) {
    const Datatype& type = operands.type;
    scratch_.take(static_cast<std::size_t>(type.span(plan.scratch())));
    plan_ = &plan;
    type_ = &type;
    reduction_ = operands.reduction;
    base_[static_cast<std::size_t>(Buffer::input)] = static_cast<char*>(const_cast<void*>(operands.input));
    base_[static_cast<std::size_t>(Buffer::output)] = static_cast<char*>(operands.output);
    base_[static_cast<std::size_t>(Buffer::scratch)] = scratch_.bytes() - type.true_lower_bound;
    route_ = &route;
    error_ = MPI_SUCCESS;
    local_ = Action::none;
    messages_.begin(type, route.tag, route.communicator);
    const Slots& slots = plan.slots();
    if (slots.stride > 0) write_lengths(bytes_at({slots.first, 0, Buffer::scratch}), slots, plan.lengths_in_slots());
    if (route.node != nullptr) begin_in_node();
}

void Operation::begin_in_node() {
    shared_memory::Consumer& consumer = *this;
    if (!in_node_) in_node_ = std::make_unique<NodeMessages>(*route_->node, consumer);
    in_node_->begin(*type_, route_->tag, route_->communicator, route_->number(route_->rank));
}

/// Moves messages first, then does one piece of local work, then looks what has arrived.
bool Operation::advance(bool may_wait) {
    try {
        if (scoreboard_.done()) return finish(MPI_SUCCESS);
        int error = start_transfers(may_wait);
        if (error != MPI_SUCCESS || scoreboard_.done()) return finish(error);
        if (local_ != Action::none || scoreboard_.local_work_ready()) {
            error = advance_local();
            const bool more = local_ != Action::none || scoreboard_.local_work_ready();
            if (error == MPI_SUCCESS && more && (!messages_.idle() || waits_in_node())) error = complete_some(false);
        } else {
            error = may_wait && messages_.is_one_under_way() && !waits_in_node() ? complete_only()
                                                                                 : complete_some(may_wait);
        }
        return error != MPI_SUCCESS || scoreboard_.done() ? finish(error) : false;
    } catch (...) {
        abandon();
        throw;
    }
}

/// Ends the call.
bool Operation::finish(int error) {
    error_ = error;
    if (error == MPI_SUCCESS) scratch_.give_back();
    else abandon();
    return true;
}

int Operation::start_transfers(bool may_wait) {
    std::uint32_t index;
    while ((index = scoreboard_.next_transfer()) != Action::none) {
        const Action& action = plan_->actions()[index];
        note_start(index);
        if (may_wait && messages_.idle() && scoreboard_.incomplete() == 1 && fits_alone(action)) {
            const int error = run_alone(action);
            complete(index);
            return error;
        }
        if (const int error = start_transfer(action, index); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

int Operation::start_transfer(const Action& action, std::uint32_t index) {
    const Rank peer = route_->number(action.peer);
    void* const elements = address(action.block);
    if (route_->node != nullptr && neighbour(action) >= 0) {
        bool is_complete = false;
        const int error = start_in_node(action, index, neighbour(action), is_complete);
        if (is_complete) complete(index);
        return error;
    }
    if (action.kind == ActionKind::receive) return messages_.receive(peer, elements, action.block.count, index);
    return messages_.send(peer, elements, close_up_to_send(action.block), index);
}

/// Makes a block ready to be sent: slots are moved together. Returns how many elements the message has.
Count Operation::close_up_to_send(const Block& block) {
    const Slots& slots = plan_->slots();
    return slots.hold(block) ? close_up(bytes_at(block), block.count, slots) : Count{block.count};
}

/// Ends a message or local work. Slots that have come are moved apart.
void Operation::complete(std::uint32_t index) {
    const Action& action = plan_->actions()[index];
    const Slots& slots = plan_->slots();
    if (action.kind == ActionKind::receive && slots.hold(action.block)) {
        spread(bytes_at(action.block), action.block.count, slots);
    }
    note_end(index);
    scoreboard_.complete(index);
}

void Operation::begin_event(std::uint32_t index) {
    started_.resize(std::max(started_.size(), plan_->actions().size()));
    started_[index] = now();
}

void Operation::end_event(std::uint32_t index) const {
    const Action& action = plan_->actions()[index];
    const Count elements = action.is_transfer() ? Count{action.block.count} : length_of(action);
    Event event{.kind = event_kind(action.kind),
                .tag = route_->tag,
                .step = action.step,
                .bytes = static_cast<std::uint64_t>(elements * type_->size),
                .start = started_[index],
                .end = now()};
    if (action.is_transfer()) event.peer = route_->number(action.peer);
    trace->add(event);
}

/// Carries out the last action of a plan, a transfer, with nothing else under way.
int Operation::run_alone(const Action& action) {
    if (route_->node != nullptr && neighbour(action) >= 0) return run_alone_in_node(action);
    const Rank peer = route_->number(action.peer);
    if (action.kind == ActionKind::send) {
        return messages_.send_now(peer, address(action.block), close_up_to_send(action.block));
    }
    return messages_.receive_now(peer, address(action.block), action.block.count);
}

int Operation::run_piece(const Action& action, Count first, Count count) {
    const auto piece = [&](const Block& block) { return address(block) + first * type_->extent; };
    const LocalWork& work = plan_->local_work(action);
    if (action.kind == ActionKind::copy) {
        const Pieces pieces = plan_->pieces(action);
        if (pieces.number != 1) return copy_row(pieces.from(action.block), pieces.into(work.into), first, count);
        if (plan_->slots().hold(action.block) && work.into.buffer == Buffer::output) {
            return copy_part(action.block, work.into, first, count);
        }
        return copy(piece(action.block), piece(work.into), count);
    }
    return reduction_->apply(piece(action.block), piece(work.right), piece(work.into), count,
                             [this](const void* from, void* into, Count each) { return copy(from, into, each); });
}

/// Copies a part from its slot to the user, from element `first` on. Ranks should agree how long it is: of a shorter
/// one the user gets what there is, as in a message.
int Operation::copy_part(const Block& part, const Block& into, Count first, Count count) const {
    const Slots& slots = plan_->slots();
    const Count length = length_in(bytes_at(part) - slots.header, slots);
    if (length > part.count) return MPI_ERR_TRUNCATE;
    const Count there = std::clamp<Count>(length - first, 0, count);
    return copy(address(part) + first, address(into) + first, there);
}

/// Copies `count` elements of a row, of which `first` are copied already.
int Operation::copy_row(const BlockRow& from, const BlockRow& into, Count first, Count count) const {
    const Count each = from.first.count;
    int error = MPI_SUCCESS;
    for (Count index = first / each, offset = first % each; count > 0 && error == MPI_SUCCESS; ++index, offset = 0) {
        const Count piece = std::min(count, each - offset);
        error = copy(address(from[index].part(offset, piece)), address(into[index].part(offset, piece)), piece);
        count -= piece;
    }
    return error;
}

/// Does a piece of the local work, so short that messages need not wait long.
int Operation::advance_local() {
    if (local_ == Action::none) {
        local_ = scoreboard_.next_local();
        local_done_ = 0;
        note_start(local_);
    }
    const Action& action = plan_->actions()[local_];
    const Count piece = std::max<Count>(1, piece_bytes / std::max<Count>(1, type_->size));
    const Count whole = length_of(action), count = std::min(piece, whole - local_done_);
    const int error = run_piece(action, local_done_, count);
    local_done_ += count;
    if (local_done_ == whole) complete(std::exchange(local_, Action::none));
    return error;
}

int Operation::complete_only() {
    std::uint32_t index;
    const int error = messages_.wait(index);
    if (error == MPI_SUCCESS) complete(index);
    return error;
}

int Operation::complete_some(bool wait) {
    if (waits_in_node()) return complete_some_in_node(wait);
    bool completed = false;
    for (std::int64_t polls = 1;; ++polls) {
        const auto note = [&](std::uint32_t index) {
            complete(index);
            completed = true;
        };
        const int error = messages_.poll(note, wait);
        if (error != MPI_SUCCESS || completed || !wait) return error;
        LibraryMessages::give_way(polls);
    }
}

int Operation::start_in_node(const Action& action, std::uint32_t index, int neighbour, bool& complete) {
    void* const elements = address(action.block);
    if (action.kind == ActionKind::receive) return in_node_->receive(neighbour, elements, action.block.count, index);
    return in_node_->send(neighbour, elements, close_up_to_send(action.block), index, complete);
}

int Operation::run_alone_in_node(const Action& action) {
    bool complete = false, moved = false;
    const auto index = static_cast<std::uint32_t>(&action - plan_->actions().data());
    int error = start_in_node(action, index, neighbour(action), complete);
    for (std::int64_t polls = 1; error == MPI_SUCCESS && !complete; ++polls) {
        error = in_node_->poll(moved, [&](std::uint32_t) { complete = true; });
        if (moved) polls = 0;
        else in_node_->give_way(polls);
    }
    return error;
}

/// Completes messages inside the node first, then those that the library carries.
int Operation::complete_some_in_node(bool wait) {
    bool completed = false, moved = false;
    const auto note = [&](std::uint32_t index) {
        complete(index);
        completed = true;
    };
    for (std::int64_t polls = 1;; ++polls) {
        int error = in_node_->poll(moved, note);
        if (error == MPI_SUCCESS && !completed && !messages_.idle()) error = messages_.poll(note);
        if (error != MPI_SUCCESS || completed || !wait) return error;
        if (moved) polls = 0;
        else in_node_->give_way(polls);
    }
}

/// True if elements are combined at once: they are never copied, and are added while they are in cache.
bool Operation::wants(std::uint32_t index) {
    const auto size = static_cast<std::size_t>(type_->size);
    const std::uint32_t combine = plan_->sole_combine(index);
    return combine != Action::none && reduction_->is_kernel() && granule % size == 0 && scoreboard_.claim(combine);
}

void Operation::consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) {
    const Block& block = plan_->actions()[index].block;
    const Action& combine = plan_->actions()[plan_->sole_combine(index)];
    const LocalWork& work = plan_->local_work(combine);
    const auto piece = [&](const Block& each) {
        return each == block ? data : reinterpret_cast<const std::byte*>(address(each)) + first;
    };
    reduction_->run_kernel(piece(combine.block), piece(work.right), address(work.into) + first,
                           static_cast<Count>(bytes) / type_->size);
}

int Operation::copy(const void* from, void* into, Count count) const {
    const Datatype& type = *type_;
    if (type.contiguous) {
        const auto bytes = static_cast<std::size_t>(count * type.extent);
        if (bytes > 0) std::memcpy(into, from, bytes);  // a barrier has no buffers
        return MPI_SUCCESS;
    }
    // Only the library knows where the gaps are.
    const Count most = std::min(count, std::max<Count>(1, piece_bytes / std::max<Count>(1, type.size)));
    const std::unique_ptr<char[]> packed(new (std::nothrow) char[static_cast<std::size_t>(most * type.size)]);
    if (packed == nullptr) return MPI_ERR_NO_MEM;
    for (Count done = 0; done < count; done += most) {
        const Count part = std::min(most, count - done);
        const auto elements = [&](const void* first) {
            return UserData{static_cast<char*>(const_cast<void*>(first)) + done * type.extent, part, type};
        };
        const int error = pack(elements(from), false, packed.get(), route_->communicator);
        if (error != MPI_SUCCESS) return error;
        if (const int last = unpack(packed.get(), elements(into), false, route_->communicator); last != MPI_SUCCESS)
            return last;
    }
    return MPI_SUCCESS;
}

void Operation::abandon() {
    messages_.abandon();
    if (in_node_) in_node_->abandon();
    scratch_.abandon();
}

}  // namespace rondo::mpi
