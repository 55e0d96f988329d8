// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/executor.hpp"

#include <cstring>
#include <limits>
#include <thread>

namespace rondo::mpi {
namespace {

constexpr Count largest_int = std::numeric_limits<int>::max();

// MPI_Waitsome of MPICH 5 and Intel MPI keeps its core to the end of the time slice, unlike MPI_Wait and MPI_Waitall.
// Where ranks share cores, the rank that it waits for may be waiting for that core: rounds took milliseconds.
constexpr int polls_before_yield = 100;

bool is_transfer(const Action& action) { return action.kind == ActionKind::send || action.kind == ActionKind::receive; }

}  // namespace

int Executor::run(const Plan& plan, const Binding& binding) {
    plan_ = &plan;
    binding_ = &binding;
    try {
        const int error = run();
        if (error != MPI_SUCCESS) abandon();
        return error;
    } catch (...) {
        abandon();
        throw;
    }
}

int Executor::run() {
    const Plan& plan = *plan_;
    if (plan.actions().empty()) return MPI_SUCCESS;
    if (is_one_message(plan)) {  // on two ranks most plans are: nothing to keep a score of
        const int error = run_alone(plan.actions().front());
        return error != MPI_SUCCESS || plan.actions().size() == 1 ? error : run_local(plan.actions().back());
    }
    scoreboard_.start(plan, static_cast<std::uint64_t>(binding_->type.size));
    int error = MPI_SUCCESS;
    while (!scoreboard_.done() && error == MPI_SUCCESS) {
        // The wire first, then one piece of local work, then look what has arrived.
        std::uint32_t index;
        while (error == MPI_SUCCESS && (index = scoreboard_.next_transfer()) != Action::none) {
            const Action& action = plan.actions()[index];
            if (requests_.empty() && scoreboard_.incomplete() == 1 && fits_alone(action)) return run_alone(action);
            error = start_transfer(action, index);
        }
        if (error != MPI_SUCCESS) break;
        if (scoreboard_.local_work_ready()) {
            index = scoreboard_.next_local();
            error = run_local(plan.actions()[index]);
            scoreboard_.complete(index);
            if (error == MPI_SUCCESS && !requests_.empty() && scoreboard_.local_work_ready()) {
                error = complete_some(false);
            }
        } else if (!scoreboard_.done()) {
            error = requests_.size() == 1 ? complete_only() : complete_some(true);
        }
    }
    return error;
}

/// A message, and perhaps local work that waits for it.
bool Executor::is_one_message(const Plan& plan) {
    const auto actions = plan.actions();
    if (actions.size() > 2 || !fits_alone(actions.front())) return false;
    const Action& last = actions.back();
    return actions.size() == 1 || (last.waits_for > 0 && !is_transfer(last));
}

bool Executor::fits_alone(const Action& action) { return is_transfer(action) && action.block.count <= largest_int; }

int Executor::start_transfer(const Action& action, std::uint32_t index) {
    const Datatype& type = binding_->type;
    const Count count = action.block.count;
    const Rank peer = binding_->number(action.peer);
    void* buffer = address(action.block);
    requests_.reserve(requests_.size() + 1);
    actions_.reserve(requests_.capacity());
    MPI_Request request;
    int error;
    if (count <= largest_int) {
        error = action.kind == ActionKind::receive ? library().Irecv(buffer, static_cast<int>(count), type.handle, peer,
                                                                     binding_->tag, binding_->communicator, &request)
                                                   : library().Isend(buffer, static_cast<int>(count), type.handle, peer,
                                                                     binding_->tag, binding_->communicator, &request);
    } else {
#ifdef RONDO_HAVE_LARGE_COUNT_API
        error =
            action.kind == ActionKind::receive
                ? library().Irecv_c(buffer, count, type.handle, peer, binding_->tag, binding_->communicator, &request)
                : library().Isend_c(buffer, count, type.handle, peer, binding_->tag, binding_->communicator, &request);
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
int Executor::run_alone(const Action& action) {
    const MPI_Datatype type = binding_->type.handle;
    const auto count = static_cast<int>(action.block.count);
    if (action.kind == ActionKind::send) {
        return library().Send(address(action.block), count, type, binding_->number(action.peer), binding_->tag,
                              binding_->communicator);
    }
    return library().Recv(address(action.block), count, type, binding_->number(action.peer), binding_->tag,
                          binding_->communicator, MPI_STATUS_IGNORE);
}

int Executor::run_local(const Action& action) {
    if (action.kind == ActionKind::copy) return copy(address(action.block), address(action.into), action.into.count);
    return binding_->reduction->apply(
        address(action.block), address(action.right), address(action.into), action.into.count,
        [this](const void* from, void* into, Count count) { return copy(from, into, count); });
}

int Executor::complete_only() {
    const std::uint32_t index = actions_.front();
    const int error = library().Wait(requests_.data(), MPI_STATUS_IGNORE);
    requests_.clear();
    actions_.clear();
    if (error == MPI_SUCCESS) scoreboard_.complete(index);
    return error;
}

int Executor::complete_some(bool wait) {
    const auto under_way = static_cast<int>(requests_.size());
    if (indices_.size() < requests_.size()) {
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
    }
    int completed = 0;
    int error = MPI_SUCCESS;
    int polls = 0;
    do {
        if (++polls > polls_before_yield) std::this_thread::yield();
        error = library().Testsome(under_way, requests_.data(), &completed, indices_.data(), statuses_.data());
    } while (wait && completed == 0 && error == MPI_SUCCESS);
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

int Executor::copy(const void* from, void* into, Count count) const {
    const Datatype& type = binding_->type;
    if (type.contiguous) {
        std::memcpy(into, from, static_cast<std::size_t>(count * type.extent));
        return MPI_SUCCESS;
    }
    // Only the library knows where the gaps are; it packs and unpacks on the way to ourselves.
    const Rank self = binding_->number(binding_->rank);
    for (Count done = 0; done < count; done += largest_int) {
        const auto part = static_cast<int>(std::min(largest_int, count - done));
        const int error =
            library().Sendrecv(static_cast<const char*>(from) + done * type.extent, part, type.handle, self,
                               binding_->tag, static_cast<char*>(into) + done * type.extent, part, type.handle, self,
                               binding_->tag, binding_->communicator, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

/// Receives are taken back, sends left to finish by themselves: the peer may have failed too, so nothing is waited for.
void Executor::abandon() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == library().request_null) continue;
        if (plan_->actions()[actions_[i]].kind == ActionKind::receive) library().Cancel(&requests_[i]);
        library().Request_free(&requests_[i]);
    }
    requests_.clear();
    actions_.clear();
}

}  // namespace rondo::mpi
