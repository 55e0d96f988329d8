// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/operation.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

namespace rondo::mpi {
namespace {

/// Of local work: some ten microseconds, and well within a core's own cache.
constexpr Count piece_bytes = Count{256} << 10;

constexpr Count largest_int = std::numeric_limits<int>::max();

// MPI_Waitsome of MPICH 5 and Intel MPI keeps its core to the end of the time slice, unlike MPI_Wait and MPI_Waitall.
// Where ranks share cores, the rank that it waits for may be waiting for that core: rounds took milliseconds.
constexpr int polls_before_yield = 100;
constexpr int polls_before_freed = 10000;

bool fits_alone(const Action& action) { return action.is_transfer() && action.block.count <= largest_int; }

/// A message, and perhaps local work that waits for it.
bool is_one_message(const Plan& plan) {
    const auto actions = plan.actions();
    if (actions.size() > 2 || !fits_alone(actions.front())) return false;
    return actions.size() == 1 || (plan.waits_for().back() > 0 && !actions.back().is_transfer());
}

}  // namespace

int Operation::run(const Plan& plan, const Operands& operands, const Route& route) {
    if (plan.actions().empty()) return MPI_SUCCESS;
    bind(plan, operands, route);
    if (route.node != nullptr) return run_in_node();
    if (is_one_message(plan)) {  // on two ranks most plans are: nothing to keep a score of
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

/// Where all messages are short and go through memory, to keep score takes longer than what it saves.
int Operation::run_in_node() {
    const Count bytes = plan_->longest_message() * type_->size;
    if (route_->is_inside_node && in_node_->as_packed() && bytes <= Count{shared_memory::most_inline}) {
        finish(run_in_order());
    } else {
        run_by_score();
    }
    return error_;
}

/// Step by step, as the schedule has it. Sends do not wait for who receives them, so this ends where lock step does.
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
    if (route.node != nullptr) begin_in_node();
}

void Operation::begin_in_node() {
    shared_memory::Consumer& consumer = *this;
    if (!in_node_) in_node_ = std::make_unique<NodeMessages>(*route_->node, consumer);
    consumed_.clear();
    in_node_->begin(*type_, route_->tag, route_->communicator, route_->number(route_->rank));
}

/// The wire first, then one piece of local work, then look what has arrived.
bool Operation::advance(bool may_wait) {
    try {
        if (scoreboard_.done()) return finish(MPI_SUCCESS);
        int error = start_transfers(may_wait);
        if (error != MPI_SUCCESS || scoreboard_.done()) return finish(error);
        if (local_ != Action::none || scoreboard_.local_work_ready()) {
            error = advance_local();
            const bool more = local_ != Action::none || scoreboard_.local_work_ready();
            if (error == MPI_SUCCESS && more && (!requests_.empty() || waits_in_node())) error = complete_some(false);
        } else {
            error = may_wait && requests_.size() == 1 && !waits_in_node() ? complete_only() : complete_some(may_wait);
        }
        return error != MPI_SUCCESS || scoreboard_.done() ? finish(error) : false;
    } catch (...) {
        abandon();
        throw;
    }
}

/// The call is over.
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
        if (may_wait && requests_.empty() && scoreboard_.incomplete() == 1 && fits_alone(action)) {
            const int error = run_alone(action);
            scoreboard_.complete(index);
            return error;
        }
        if (const int error = start_transfer(action, index); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

int Operation::start_transfer(const Action& action, std::uint32_t index) {
    const Datatype& type = *type_;
    const Count count = action.block.count;
    const Rank peer = route_->number(action.peer);
    if (route_->node != nullptr && neighbour(action) >= 0) {
        bool complete = false;
        const int error = start_in_node(action, index, neighbour(action), complete);
        if (complete) scoreboard_.complete(index);
        return error;
    }
    void* buffer = address(action.block);
    requests_.reserve(requests_.size() + 1);
    actions_.reserve(requests_.capacity());
    MPI_Request request;
    int error;
    if (count <= largest_int) {
        error = action.kind == ActionKind::receive ? library().Irecv(buffer, static_cast<int>(count), type.handle, peer,
                                                                     route_->tag, route_->communicator, &request)
                                                   : library().Isend(buffer, static_cast<int>(count), type.handle, peer,
                                                                     route_->tag, route_->communicator, &request);
    } else {
#ifdef RONDO_HAVE_LARGE_COUNT_API
        error = action.kind == ActionKind::receive
                    ? library().Irecv_c(buffer, count, type.handle, peer, route_->tag, route_->communicator, &request)
                    : library().Isend_c(buffer, count, type.handle, peer, route_->tag, route_->communicator, &request);
#else
        error = MPI_ERR_COUNT;  // such calls go to the library's collective
#endif
    }
    if (error != MPI_SUCCESS) return error;
    actions_.push_back(index);  // room for the request was made before it began
    requests_.push_back(request);
    return MPI_SUCCESS;
}

/// The last action of a plan, a transfer, with nothing else under way: no request is needed.
int Operation::run_alone(const Action& action) {
    const MPI_Datatype type = type_->handle;
    const auto count = static_cast<int>(action.block.count);
    if (route_->node != nullptr && neighbour(action) >= 0) return run_alone_in_node(action);
    if (action.kind == ActionKind::send) {
        return library().Send(address(action.block), count, type, route_->number(action.peer), route_->tag,
                              route_->communicator);
    }
    return library().Recv(address(action.block), count, type, route_->number(action.peer), route_->tag,
                          route_->communicator, MPI_STATUS_IGNORE);
}

int Operation::run_piece(const Action& action, Count first, Count count) {
    const auto piece = [&](const Block& block) { return address(block) + first * type_->extent; };
    const LocalWork& work = plan_->local_work(action);
    if (action.kind == ActionKind::copy) return copy(piece(action.block), piece(work.into), count);
    return reduction_->apply(piece(action.block), piece(work.right), piece(work.into), count,
                             [this](const void* from, void* into, Count each) { return copy(from, into, each); });
}

/// So much of the local work that messages need not wait long.
int Operation::advance_local() {
    if (local_ == Action::none) {
        local_ = scoreboard_.next_local();
        local_done_ = 0;
    }
    const Action& action = plan_->actions()[local_];
    const Count piece = std::max<Count>(1, piece_bytes / type_->size);
    const Count count = std::min(piece, action.block.count - local_done_);
    const int error = run_piece(action, local_done_, count);
    local_done_ += count;
    if (local_done_ == action.block.count) scoreboard_.complete(std::exchange(local_, Action::none));
    return error;
}

int Operation::complete_only() {
    const std::uint32_t index = actions_.front();
    const int error = library().Wait(requests_.data(), MPI_STATUS_IGNORE);
    requests_.clear();
    actions_.clear();
    if (error == MPI_SUCCESS) scoreboard_.complete(index);
    return error;
}

int Operation::complete_some(bool wait) {
    if (waits_in_node()) return complete_some_in_node(wait);
    bool completed = false;
    int error = MPI_SUCCESS;
    std::int64_t polls = 0;
    do {
        if (++polls > polls_before_yield) std::this_thread::yield();
        error = test_some(completed);
    } while (wait && !completed && error == MPI_SUCCESS);
    return error;
}

/// Of the requests.
int Operation::test_some(bool& some_completed) {
    const auto under_way = static_cast<int>(requests_.size());
    if (indices_.size() < requests_.size()) {
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
    }
    int completed = 0;
    const int error = library().Testsome(under_way, requests_.data(), &completed, indices_.data(), statuses_.data());
    if (error != MPI_SUCCESS) {
        int error_class = error;
        library().Error_class(error, &error_class);
        for (int i = 0; error_class == MPI_ERR_IN_STATUS && i < completed; ++i) {
            if (statuses_[static_cast<std::size_t>(i)].MPI_ERROR != MPI_SUCCESS) {
                return statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
            }
        }
        return error;
    }
    for (int i = 0; i < completed; ++i) {
        scoreboard_.complete(actions_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])]);
    }
    some_completed = completed != 0;
    if (!some_completed) return MPI_SUCCESS;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == library().request_null) continue;
        requests_[kept] = requests_[i];
        actions_[kept++] = actions_[i];
    }
    requests_.resize(kept);
    actions_.resize(kept);
    return MPI_SUCCESS;
}

int Operation::start_in_node(const Action& action, std::uint32_t index, int neighbour, bool& complete) {
    void* const elements = address(action.block);
    if (action.kind == ActionKind::receive) return in_node_->receive(neighbour, elements, action.block.count, index);
    return in_node_->send(neighbour, elements, action.block.count, index, complete);
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

/// Inside the node first, then the library's requests.
int Operation::complete_some_in_node(bool wait) {
    bool completed = false, moved = false;
    for (std::int64_t polls = 1;; ++polls) {
        int error = in_node_->poll(moved, [&](std::uint32_t index) {
            complete_in_node(index);
            completed = true;
        });
        if (error == MPI_SUCCESS && !completed && !requests_.empty()) error = test_some(completed);
        if (error != MPI_SUCCESS || completed || !wait) return error;
        if (moved) polls = 0;
        else in_node_->give_way(polls);
    }
}

void Operation::complete_in_node(std::uint32_t index) {
    const auto consumed = std::find(consumed_.begin(), consumed_.end(), index);
    if (consumed == consumed_.end()) {
        scoreboard_.complete(index);
        return;
    }
    consumed_.erase(consumed);
    scoreboard_.complete_with(index, plan_->sole_combine(index));
}

/// Elements that are combined at once are never copied, and are added while they are in cache.
bool Operation::wants(std::uint32_t index) {
    const auto size = static_cast<std::size_t>(type_->size);
    const std::uint32_t combine = plan_->sole_combine(index);
    const bool can =
        combine != Action::none && reduction_->is_kernel() && granule % size == 0 && scoreboard_.waits_for_one(combine);
    if (can) consumed_.push_back(index);
    return can;
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
        std::memcpy(into, from, static_cast<std::size_t>(count * type.extent));
        return MPI_SUCCESS;
    }
    // Only the library knows where the gaps are; it packs and unpacks on the way to ourselves.
    const Rank self = route_->number(route_->rank);
    for (Count done = 0; done < count; done += largest_int) {
        const auto part = static_cast<int>(std::min(largest_int, count - done));
        const int error = library().Sendrecv(static_cast<const char*>(from) + done * type.extent, part, type.handle,
                                             self, route_->tag, static_cast<char*>(into) + done * type.extent, part,
                                             type.handle, self, route_->tag, route_->communicator, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

/// Sends are left to finish by themselves: the peer may have failed, so nothing is waited for without end. Receives are
/// taken back. One that has found its message cannot be; it gets the time to complete, as it may write into the user's
/// memory until then. That of one whose sender has died in the midst of it is the library's to deal with.
void Operation::abandon() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == library().request_null) continue;
        if (plan_->actions()[actions_[i]].kind == ActionKind::receive) {
            library().Cancel(&requests_[i]);
            int completed = 0;
            for (int polls = 0; polls < polls_before_freed && completed == 0; ++polls) {
                if (library().Test(&requests_[i], &completed, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
                if (polls > polls_before_yield) std::this_thread::yield();
            }
        }
        if (requests_[i] != library().request_null) library().Request_free(&requests_[i]);
    }
    requests_.clear();
    actions_.clear();
    if (in_node_) in_node_->abandon();
    scratch_.abandon();
}

}  // namespace rondo::mpi
